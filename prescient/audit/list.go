package audit

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// MaxPage is the most entries that a page has.
const MaxPage = 10000

// DefaultSearch is how many entries a List looks at where no index serves its filter.
const DefaultSearch = 250_000

// Filter narrows a list. Zero fields do not narrow it.
type Filter struct {
	// Kind and ID are those of the object. By an ID its entries are found at once; without a Kind those of every kind.
	Kind Kind
	ID   string
	// Person, Account and Verb are what the entries have. An Account without a host (app, not app@10.0.0.7) is that from any host.
	Person, Account, Verb string
	// Verbs are those that an entry has one of, beside Verb.
	Verbs []string
	// Since (inclusive) and Until bound the time.
	Since, Until time.Time
	// After goes on behind an entry of an earlier page, by its Cursor.
	After string
	// Limit is how many entries a page has; 100 by default, MaxPage at most.
	Limit int
	// Search bounds how many entries are looked at where no index serves the filter; DefaultSearch by default. Within bounds for how long more is looked
	// for, about; no time by default.
	Search int
	Within time.Duration
	// Bare leaves out what was before and after, for who may not see payloads.
	Bare bool
}

// Stored is an entry as the table holds it. Times are UTC.
type Stored struct {
	At      time.Time `json:"at"`
	Kind    Kind      `json:"kind"`
	ID      string    `json:"id"`
	Verb    string    `json:"verb"`
	Version uint64    `json:"version,omitempty"`
	// Incarnation is that of the object whose version the change made; nil where it made none.
	Incarnation *time.Time      `json:"incarnation,omitempty"`
	Account     string          `json:"account"`
	Person      string          `json:"person,omitempty"`
	Host        string          `json:"host"`
	Program     string          `json:"program"`
	Command     string          `json:"command,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	Before      json.RawMessage `json:"before,omitempty"`
	After       json.RawMessage `json:"after,omitempty"`
	// Pruned says that entries of earlier versions of the object were pruned, or are from before versions were proved.
	Pruned bool `json:"pruned,omitempty"`

	entry entryID
}

// Cursor names the place of the entry in a list.
func (s Stored) Cursor() string { return cursor{s.At, s.entry}.String() }

// ErrSearched is returned by a List that looked at as many entries as it may before its page was full. The error is a *SearchedError,
// and the entries that were found come with it.
var ErrSearched = errors.New("the search ended early")

// SearchedError says how far a List came.
type SearchedError struct {
	// Looked is how many entries were looked at.
	Looked int
	// Reached is the time of the last of them.
	Reached time.Time
	// After is the cursor with which the search goes on.
	After string
}

func (e *SearchedError) Error() string {
	return fmt.Sprintf("%s: %d entries were looked at, as far as %s", ErrSearched, e.Looked, e.Reached.Format(time.RFC3339))
}

func (e *SearchedError) Unwrap() error { return ErrSearched }

// cursor is the place of an entry.
type cursor struct {
	at    time.Time
	entry entryID
}

func (c cursor) String() string {
	return fmt.Sprintf("%s/%X", c.at.UTC().Format(literal.MicroLayout), c.entry[:])
}

func parseCursor(text string) (c cursor, err error) {
	at, id, _ := strings.Cut(text, "/")
	c.at, err = time.ParseInLocation(literal.MicroLayout, at, time.UTC)
	entry, noEntry := hex.DecodeString(id)
	if err = errors.Join(err, noEntry); err != nil || len(entry) != len(c.entry) {
		return c, fmt.Errorf("%w: cursor %.100q: want that of an entry, as time/id", prescient.ErrInvalid, text)
	}
	c.entry = entryID(entry)
	return c, nil
}

// behind is a condition for the entries that come behind it in a list, and upTo for itself and those before.
func (c cursor) behind() string { return c.compare("<", "<") }
func (c cursor) upTo() string   { return c.compare(">", ">=") }

func (c cursor) compare(at, entry string) string {
	t, id := literal.Of(literal.AppendMicro, c.at), string(c.entry.literal(nil))
	return fmt.Sprintf("(at %[1]s %[3]s OR at = %[3]s AND entry %[2]s %[4]s)", at, entry, t, id)
}

// List reads a page of entries, the latest first. Errors wrap prescient.ErrInvalid for a filter that is none, and ErrSearched.
func (l Log) List(ctx context.Context, db prescient.DB, f Filter) ([]Stored, error) {
	limit := cmp.Or(f.Limit, 100)
	if limit < 1 || limit > MaxPage {
		return nil, fmt.Errorf("%w: limit %d: 1 to %d are allowed", prescient.ErrInvalid, f.Limit, MaxPage)
	}
	if err := f.validate(); err != nil {
		return nil, err
	}
	bounds, err := f.bounds()
	if err != nil {
		return nil, err
	}
	index, rest := "PRIMARY", f.rest()
	if f.ID != "" {
		index, bounds = "stream", append(bounds, f.ofObject())
	}
	if f.isServed() {
		return l.page(ctx, db, f, index, slices.Concat(bounds, rest), limit)
	}
	return l.search(ctx, db, index, f, bounds, rest, limit)
}

// validate refuses text that no entry can have: a server takes it for a mistake in the statement.
func (f Filter) validate() error {
	for _, one := range []struct {
		what, text string
	}{{"kind", string(f.Kind)}, {"id", f.ID}, {"person", f.Person}, {"account", f.Account}, {"verb", f.Verb}, {"verb", strings.Join(f.Verbs, ",")}} {
		if !utf8.ValidString(one.text) {
			return fmt.Errorf("%w: %s %.80q is not valid UTF-8", prescient.ErrInvalid, one.what, one.text)
		}
		if (one.what == "kind" || one.what == "verb") && strings.ContainsFunc(one.text, func(r rune) bool { return r > unicode.MaxASCII }) {
			return fmt.Errorf("%w: %s %.80q: only ASCII is allowed", prescient.ErrInvalid, one.what, one.text)
		}
	}
	return nil
}

// bounds are the conditions that the order of the list serves.
func (f Filter) bounds() (conditions []string, err error) {
	if !f.Since.IsZero() {
		conditions = append(conditions, "at >= "+literal.Of(literal.AppendMicro, f.Since))
	}
	if !f.Until.IsZero() {
		conditions = append(conditions, "at < "+literal.Of(literal.AppendMicro, f.Until))
	}
	if f.After != "" {
		c, err := parseCursor(f.After)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, c.behind())
	}
	return conditions, nil
}

// isServed says whether an index leads to nothing but what is wanted, or to the few entries of an ID in each kind.
func (f Filter) isServed() bool {
	if f.ID != "" && f.Kind == "" {
		return true
	}
	return (f.ID != "" || f.Kind == "") && f.Person == "" && f.Account == "" && f.Verb == "" && len(f.Verbs) == 0
}

// ofObject is the condition for the streams of an id.
func (f Filter) ofObject() string {
	kinds := Kinds()
	if f.Kind != "" {
		kinds = []Kind{f.Kind}
	}
	streams := literal.List(func(b []byte, kind Kind) []byte { return streamOf(kind, f.ID).literal(b) }, kinds)
	return "stream IN (" + streams + ")"
}

// rest are the conditions that no index serves.
func (f Filter) rest() (conditions []string) {
	is := func(column, value string) {
		if value != "" {
			conditions = append(conditions, column+" = "+literal.Of(literal.AppendText, value))
		}
	}
	is("kind", string(f.Kind))
	is("person", f.Person)
	is("verb", f.Verb)
	if len(f.Verbs) > 0 {
		conditions = append(conditions, "verb IN ("+literal.List(literal.AppendText, f.Verbs)+")")
	}
	if strings.Contains(f.Account, "@") {
		is("account", f.Account)
	} else {
		is("SUBSTRING_INDEX(account, '@', 1)", f.Account)
	}
	return conditions
}

// search looks for entries in one stretch of the log after the other.
func (l Log) search(ctx context.Context, db prescient.DB, index string, f Filter, bounds, rest []string, limit int) (found []Stored, err error) {
	within, s := bounds, store.NewStretches(store.FirstStretch, cmp.Or(f.Search, DefaultSearch), f.Within, time.Now())
	for {
		stretch := s.Take(time.Now())
		end, err := l.reach(ctx, db, index, within, stretch-1)
		if err != nil {
			return nil, err
		}
		stretchOf := slices.Concat(within, rest)
		if end != nil {
			stretchOf = append(stretchOf, end.upTo())
		}
		page, err := l.page(ctx, db, f, index, stretchOf, limit-len(found))
		found = append(found, page...)
		if err != nil || end == nil || len(found) == limit {
			return found, err
		}
		if s.Over(time.Now()) {
			return found, &SearchedError{Looked: s.Looked(), Reached: end.at, After: end.String()}
		}
		within = append(slices.Clone(bounds), end.behind())
	}
}

// orders are those of the indexes, as MySQL sees them.
var orders = map[string]string{"PRIMARY": "at DESC, entry DESC", "stream": "at DESC"}

// reach returns the entry that so many come before; nil for none. Of an object it is the last of its very time.
func (l Log) reach(ctx context.Context, db prescient.DB, index string, conditions []string, offset int) (*cursor, error) {
	var c cursor
	err := store.QueryRow(ctx, db, []any{store.At(&c.at), store.UnhexInto(c.entry[:])},
		l.tables.Fill("audit/reach", "{index}", index, "{filter}", all(conditions), "{order}", orders[index], "{offset}", strconv.Itoa(offset)))
	if index == "stream" {
		c.entry = entryID{}
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the audit: %w", err)
	}
	return &c, nil
}

func all(conditions []string) string {
	if len(conditions) == 0 {
		return "1 = 1"
	}
	return strings.Join(conditions, " AND ")
}

func (l Log) page(ctx context.Context, db prescient.DB, f Filter, index string, conditions []string, limit int) (page []Stored, err error) {
	states := "HEX(before_change), HEX(after_change)"
	if f.Bare {
		states = "NULL, NULL"
	}
	query := l.tables.Fill("audit/list", "{states}", states, "{index}", index, "{filter}", all(conditions), "{limit}", strconv.Itoa(limit))
	page, err = store.Rows(ctx, db, "reading the audit", query, (*Stored).into)
	for i := range page {
		page[i].Before, page[i].After = readable(page[i].Before), readable(page[i].After)
	}
	return page, err
}

// into is where the columns of a row go.
func (s *Stored) into() []any {
	return []any{store.At(&s.At), store.UnhexInto(s.entry[:]), &s.Kind, store.Unhex(&s.ID), &s.Verb, store.OrZero(&s.Version), store.AtOrNil(&s.Incarnation), store.Unhex(&s.Account),
		store.Unhex(&s.Person), store.Unhex(&s.Host), store.Unhex(&s.Program), store.Unhex(&s.Command), store.Unhex(&s.Reason), store.Unhex(&s.Before), store.Unhex(&s.After),
		&s.Pruned}
}

// readable is what plain SQL wrote as JSON, though it is none, as a string.
func readable(state []byte) json.RawMessage {
	if len(state) == 0 || json.Valid(state) && utf8.Valid(state) {
		return state
	}
	quoted, _ := json.Marshal(string(state)) // a string never fails
	return quoted
}
