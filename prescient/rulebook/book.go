package rulebook

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/prescient/rule"
)

// Errors of the methods; nothing was written then.
var (
	// ErrNotFound is returned where there is no rule of a name.
	ErrNotFound = errors.New("no such rule")
	// ErrStale is returned where somebody has changed a rule since it was read.
	ErrStale = errors.New("the rule was changed meanwhile")
	// ErrExists is returned by Create where there is a rule of the name.
	ErrExists = errors.New("there is such a rule")
	// ErrFixed is returned where a rule is to have another occasion or job_exec: that is another rule.
	ErrFixed = errors.New("a rule keeps its occasion and its job_exec")
	// ErrTooMany is returned where there are MaxRules already.
	ErrTooMany = errors.New("too many rules")
)

// MaxRules is how many rules there may be: every client reads all of them.
const MaxRules = 1000

// Book are the rules of one installation. It is for concurrent use. Its methods take the caller's handle: a transaction, or a pool, on which each is a
// transaction of its own.
type Book struct {
	client *client.Client
	own    client.Own
	rows   client.Bulk
	tables *store.Tables
	audit  audit.Log

	versions *rule.Versions
	bare     bool
}

// New returns the rules of the installation that a client works on.
func New(c *client.Client) *Book {
	own := c.Own(reserved.Rules())
	return &Book{client: c, own: own, rows: c.Bulk(reserved.Rules()), tables: own.Tables(), audit: audit.On(own.Tables()), versions: new(rule.Versions)}
}

// Bare are the same rules, but Get, List and Versions leave out the constants, for accounts that may not read them.
func (b *Book) Bare() *Book {
	bare := *b
	bare.bare = true
	return &bare
}

// payload is the column of the constants.
func (b *Book) payload() string {
	if b.bare {
		return "NULL"
	}
	return "HEX(CAST(says.payload AS CHAR CHARACTER SET utf8mb4))"
}

// Stored is a rule as the tables have it.
type Stored struct {
	rule.Known
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Walk      Walk      `json:"walk"`
}

// Behind says that not all that is pending has been looked at since a change that moves or ends it.
func (s Stored) Behind() bool { return max(s.MovedTo, s.EndedTo) > s.Walk.To }

// Walk is how far what is pending follows the rule's last change.
type Walk struct {
	// To is the version for which all that is pending has been looked at.
	To uint32 `json:"to"`
	// Pass is how often all has been looked at, this time included; 0 where no walk has begun.
	Pass int `json:"pass"`
	// Moved and Ended are how many checks it has moved and ended; Late how many of the moved ones were to be called earlier than now.
	Moved uint64 `json:"moved"`
	Late  uint64 `json:"late"`
	Ended uint64 `json:"ended"`

	found   uint64 // in this pass
	reached string
	at      *time.Time
}

func (b *Book) stored(ctx context.Context, db prescient.DB, condition string, limit int) ([]Stored, error) {
	query := b.tables.Fill("rule/stored", "{payload}", b.payload(), "{condition}", condition, "{limit}", literal.Of(literal.AppendInt, int64(limit)))
	return store.Rows(ctx, db, "reading rules", query, func(s *Stored) []any {
		w := &s.Walk
		return append(s.Known.Into(), store.At(&s.CreatedAt), store.At(&s.UpdatedAt), &w.To, &w.Pass, &w.reached, &w.found, &w.Moved, &w.Late, &w.Ended, store.AtOrNil(&w.at))
	})
}

// Get returns a rule. The error wraps ErrNotFound; a rule that was deleted is none.
func (b *Book) Get(ctx context.Context, db prescient.DB, name string) (Stored, error) {
	one, err := b.get(ctx, db, name)
	if err == nil && one.State == rule.Deleted {
		err = fmt.Errorf("%w: %s: it was deleted", ErrNotFound, name)
	}
	return one, err
}

// get is Get, also for one that was deleted.
func (b *Book) get(ctx context.Context, db prescient.DB, name string) (Stored, error) {
	if err := rule.ValidName(name); err != nil {
		return Stored{}, err
	}
	found, err := b.stored(ctx, db, "rule.name = "+text(name), 1)
	if err != nil {
		return Stored{}, err
	}
	if len(found) == 0 {
		return Stored{}, fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	return found[0], nil
}

// List lists rules by their names, up to limit behind a name. Deleted ones are left out.
func (b *Book) List(ctx context.Context, db prescient.DB, after string, limit int) ([]Stored, error) {
	return b.stored(ctx, db, "rule.name > "+text(after)+" AND rule.state <> 'deleted'", limit)
}

// Version is a rule as it was.
type Version struct {
	rule.Rule
	Version   uint32     `json:"version"`
	State     rule.State `json:"state"`
	CreatedAt time.Time  `json:"created_at"`
}

// Versions lists the versions of a rule, the last first, up to limit before a version; 0 for all.
func (b *Book) Versions(ctx context.Context, db prescient.DB, name string, before uint32, limit int) ([]Version, error) {
	if err := rule.ValidName(name); err != nil {
		return nil, err
	}
	if before == 0 {
		before = math.MaxUint32
	}
	query := b.tables.Fill("rule/versions", "{payload}", b.payload(), "{name}", text(name), "{before}", number(before), "{limit}", literal.Of(literal.AppendInt, int64(limit)))
	return store.Rows(ctx, db, "reading versions of a rule", query, func(v *Version) []any {
		return append(append([]any{&v.Name, &v.Version, &v.Occasion, &v.JobExec}, v.Rule.Into()...), &v.State, store.At(&v.CreatedAt))
	})
}

func text(s string) string { return literal.Of(literal.AppendText, s) }

func number[T uint32 | uint64 | int](n T) string { return literal.Of(literal.AppendUint, uint64(n)) }

// numberOrNull is a count of which 0 is NULL.
func numberOrNull(n int64) string {
	if n == 0 {
		return "NULL"
	}
	return literal.Of(literal.AppendInt, n)
}

// row is (…) for rule/insert_version.
func row(r rule.Rule, s rule.Standing, now time.Time) string {
	payload := "NULL"
	if r.Payload != nil {
		payload = literal.Of(literal.AppendJSON, string(r.Payload))
	}
	return "(" + strings.Join([]string{text(r.Name), number(s.Version), literal.Of(literal.AppendMicro, now), text(string(s.State)),
		literal.Of(literal.AppendInt, int64(r.Delay/time.Second)), literal.Of(literal.AppendInt, int64(r.Spread/time.Second)), numberOrNull(int64(r.ExpiresAfter / time.Second)),
		text(string(r.OnPending)), text(strings.Join(r.Ends, ",")), payload, numberOrNull(int64(r.MaxChecks)), numberOrNull(int64(r.MaxErrors))}, ", ") + ")"
}
