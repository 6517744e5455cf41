package bulk

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
)

// Errors that a caller can tell apart.
var (
	// ErrNotFound is returned where there is no bulk run of a number.
	ErrNotFound = errors.New("no such bulk run")
	// ErrToken is returned where a deed cannot be begun by a token: it is another's, was used, or is over.
	ErrToken = errors.New("the preview's token does not hold")
)

// TokenTime is for how long the token of a preview holds.
const TokenTime = 15 * time.Minute

// MaxExact is how many checks a preview counts; beyond, it estimates.
const MaxExact = 250_000

// countFor is how long a preview counts.
const countFor = 3 * time.Second

// sampled is how many checks a preview shows.
const sampled = 10

// Bulk does deeds on one installation. It is for concurrent use.
type Bulk struct {
	client *client.Client
	rows   client.Bulk
	tables *store.Tables
	audit  audit.Log
}

// New returns what does deeds by a client.
func New(c *client.Client) *Bulk {
	rows := c.Bulk(reserved.Bulk())
	return &Bulk{client: c, rows: rows, tables: rows.Tables(), audit: audit.On(rows.Tables())}
}

// Sample is one of the checks that a preview shows.
type Sample struct {
	EntityName string    `json:"entity_name"`
	EntityKey  string    `json:"entity_key"`
	JobExec    string    `json:"job_exec"`
	Tag        string    `json:"tag"`
	Slot       time.Time `json:"slot"`
	Error      string    `json:"error,omitempty"`
}

// Preview is what a deed would be done to.
type Preview struct {
	// Number names the bulk run, and Token begins its deed, once, until Until.
	Number uint64    `json:"number,string"`
	Token  string    `json:"token"`
	Until  time.Time `json:"until"`
	// Cutoff is the time of the preview: checks that are inserted, or end, after it are left alone.
	Cutoff time.Time `json:"cutoff"`
	// Count is how many match; Exact says whether they were counted, or estimated. 0 that is not exact is not known.
	Count int  `json:"count"`
	Exact bool `json:"exact"`
	// Sample are the first that match.
	Sample []Sample `json:"sample"`
}

// By is who asks, for the audit.
type By struct{ Person, Reason, Host string }

// Look counts what matches, and keeps nothing: the answer has no number and no token. The error wraps prescient.ErrInvalid or
// prescient.ErrBeyondHorizon.
func (b *Bulk) Look(ctx context.Context, db client.Lister, asked Asked) (Preview, error) {
	if err := asked.Validate(); err != nil {
		return Preview{}, err
	}
	now, err := b.client.Now(ctx, db)
	if err != nil {
		return Preview{}, err
	}
	if asked.DueAt != nil || asked.SpreadMS > 0 {
		if _, _, err := b.rows.Place(asked.Filter.JobExec, asked.last(now), now); err != nil {
			return Preview{}, err
		}
	}
	p := Preview{Cutoff: now, Until: now.Add(TokenTime)}
	err = b.count(ctx, db, asked, &p)
	return p, err
}

// Preview is Look, and keeps what was asked for Start. It changes no check.
func (b *Bulk) Preview(ctx context.Context, db client.Lister, asked Asked, by By) (Preview, error) {
	if err := errors.Join(prescient.ValidText("person", by.Person, 128), prescient.ValidText("reason", by.Reason, 1000), prescient.ValidText("host", by.Host, 255)); err != nil {
		return Preview{}, err
	}
	p, err := b.Look(ctx, db, asked)
	if err != nil {
		return Preview{}, err
	}
	p.Token = rand.Text()
	filter, err := json.Marshal(keptOf(&asked))
	if err != nil {
		return Preview{}, err
	}
	hash := sha256.Sum256([]byte(p.Token))
	result, err := db.ExecContext(ctx, b.tables.Stmt.Get("bulk/insert"), asked.Deed, string(filter), asked.DueAt, p.Cutoff, by.Person, by.Reason, by.Host, p.Count, p.Exact, hash[:])
	if err != nil {
		return Preview{}, fmt.Errorf("keeping the preview: %w", err)
	}
	number, err := result.LastInsertId()
	p.Number = uint64(number)
	return p, err
}

func (b *Bulk) count(ctx context.Context, db client.Lister, asked Asked, p *Preview) (err error) {
	f := asked.list(p.Cutoff)
	var counted client.Counted
	p.Sample = []Sample{}
	show := f
	show.Limit, show.Search, show.Bare = sampled, MaxExact, true
	if asked.Deed == Requeue {
		if counted, err = b.rows.CountEnded(ctx, db, f, MaxExact, countFor); err != nil {
			return err
		}
		rows, err := b.client.History(ctx, db, show)
		for _, r := range rows {
			p.Sample = append(p.Sample, Sample{r.EntityName, r.EntityKey, r.JobExec, r.Tag, r.Slot, r.Error})
		}
		return p.counted(counted, err)
	}
	if counted, err = b.rows.CountPending(ctx, db, f, MaxExact, countFor); err != nil {
		return err
	}
	rows, err := b.client.Pending(ctx, db, show)
	for _, r := range rows {
		p.Sample = append(p.Sample, Sample{r.EntityName, r.EntityKey, r.JobExec, r.Tag, r.NextCheckAt, r.LastError})
	}
	return p.counted(counted, err)
}

func (p *Preview) counted(c client.Counted, err error) error {
	p.Count, p.Exact = c.Rows, c.Whole
	if !c.Whole {
		p.Count = c.About
	}
	if errors.Is(err, client.ErrSearched) {
		return nil // it shows fewer
	}
	return err
}

// Start begins the deed of a preview by its token, once. Whoever works off bulk runs does it. The error wraps ErrNotFound or ErrToken.
func (b *Bulk) Start(ctx context.Context, db prescient.DB, number uint64, token string) error {
	hash := sha256.Sum256([]byte(token))
	n, err := store.Affected(ctx, db, b.tables.Stmt.Get("bulk/start"), number, hash[:])
	if err != nil {
		return fmt.Errorf("beginning bulk run %d: %w", number, err)
	}
	if n > 0 {
		return nil
	}
	if _, err := b.Get(ctx, db, number); err != nil {
		return err
	}
	return fmt.Errorf("%w: that of bulk run %d was used, is over 15 minutes old, or is another's; make a new preview", ErrToken, number)
}

// Stop has a deed end after its present step, and a preview never begin. What it did stays done. One that is over stays as it is.
func (b *Bulk) Stop(ctx context.Context, db prescient.DB, number uint64) error {
	if _, err := b.Get(ctx, db, number); err != nil {
		return err
	}
	if _, err := store.Affected(ctx, db, b.tables.Stmt.Get("bulk/stop"), number); err != nil {
		return fmt.Errorf("stopping bulk run %d: %w", number, err)
	}
	return nil
}

// Get returns a bulk run. The error wraps ErrNotFound.
func (b *Bulk) Get(ctx context.Context, db prescient.DB, number uint64) (Run, error) {
	found, err := b.read(ctx, db, "bulk/find", number)
	if err != nil {
		return Run{}, err
	}
	if len(found) == 0 {
		return Run{}, fmt.Errorf("%w: %d", ErrNotFound, number)
	}
	return found[0], nil
}

// List returns bulk runs, the latest first: those before a number, or all where it is 0.
func (b *Bulk) List(ctx context.Context, db prescient.DB, before uint64, limit int) ([]Run, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return b.read(ctx, db, "bulk/list", before, limit)
}

// OfCheck returns the bulk runs that took a check, the latest first, 100 at most.
func (b *Bulk) OfCheck(ctx context.Context, db prescient.DB, key prescient.Key) ([]Run, error) {
	return b.read(ctx, db, "bulk/of_check", key[:], 100)
}

func (b *Bulk) read(ctx context.Context, db prescient.DB, statement string, args ...any) ([]Run, error) {
	runs, err := store.Rows(ctx, db, "reading bulk runs", b.tables.Fill(statement, "{columns}", runColumns), (*Run).into, args...)
	for i := range runs {
		runs[i].check()
	}
	return runs, err
}
