package client

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/client/internal/listing"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// Lister is what lists are read on: a pool made by connect.Open, or a transaction of one.
type Lister = listing.DB

// MaxPage is the most rows that a page of a listing has.
const MaxPage = 10000

// DefaultSearch is how many rows a listing looks at for one page, where no index serves its filter.
const DefaultSearch = 250_000

// ErrSearched is returned by a listing that looked at as many rows as it may before its page was full. The error is a
// *SearchedError, and the rows that were found come with it.
var ErrSearched = errors.New("the search ended early")

// SearchedError says how far a listing came. By entity, by time and by cursor rows are found at once; by job_exec, by
// outcome, by slot of history and by kind of entity they are looked for, one after the other.
type SearchedError struct {
	// Rows is how many were looked at.
	Rows int
	// Reached is the time of the last of them: its slot, or its end.
	Reached time.Time
	// After is the cursor with which the search goes on.
	After string
}

func (e *SearchedError) Error() string {
	return fmt.Sprintf("%s: %d rows were looked at, as far as %s", ErrSearched, e.Rows, slots.Stamp(e.Reached))
}

func (e *SearchedError) Unwrap() error { return ErrSearched }

// ListFilter narrows a listing. Zero fields do not narrow it.
type ListFilter struct {
	// Entity keeps to one entity; only its Name may be given.
	Entity prescient.Entity
	// JobExec keeps to one job_exec, Outcome to one outcome (of history).
	JobExec string
	Outcome prescient.Outcome
	// Tag keeps to one tag: for one entity, among whose rows it is found.
	Tag string
	// HasTag keeps to rows with exactly Tag, also where that is empty.
	HasTag bool
	// Slot keeps to one slot.
	Slot time.Time
	// From (inclusive) and Before bound the slot of a pending row, and the end of one in history.
	From, Before time.Time
	// Reason keeps to rows whose error has this text in it: the last one of what is pending, that of the end in history.
	Reason string
	// Failing keeps to pending rows whose last call failed.
	Failing bool
	// InsertedUntil keeps to rows that were inserted at a time or before, by the database's clock.
	InsertedUntil time.Time
	// NotSchedules leaves out what schedules have pending.
	NotSchedules bool
	// After continues behind the last row of an earlier page, by its Cursor.
	After string
	// Limit is how many rows a page has; 100 by default, MaxPage at most.
	Limit int
	// Search bounds how many rows are looked at where no index serves the filter, as by job_exec, by outcome, by the slot of
	// what ended, and by entity name alone. DefaultSearch by default. Within bounds for how long more is looked for, about; no time by default.
	Search int
	Within time.Duration
	// Bare leaves payloads out, for an account or a reader that may not see them.
	Bare bool
}

// Ended is a row of job_history: a check, as it was, and its end. Times are UTC.
type Ended struct {
	prescient.FutureJob
	Slot    time.Time         `db:"slot" json:"slot"`
	Outcome prescient.Outcome `db:"outcome" json:"outcome"`
	// Error says why, where the outcome is not done.
	Error string `db:"error" json:"error,omitempty"`
	// StartedAt is when its last check started; nil where none ran.
	StartedAt *time.Time `db:"started_at" json:"started_at"`
	EndedAt   time.Time  `db:"ended_at" json:"ended_at"`
	RunMS     int64      `db:"run_ms" json:"run_ms"`
	// LatenessMS is the start of the last check against the slot; nil where none ran.
	LatenessMS *int64 `db:"lateness_ms" json:"lateness_ms"`
	Worker     string `db:"worker" json:"worker"`
}

// Cursor names the place of the row in a listing of history.
func (e Ended) Cursor() string { return listing.HistoryCursor(e.EndedAt, e.Key(), e.Revision) }

// query parts what is asked of pending rows or of history into the bounds that an index serves, and the rest.
func (f ListFilter) query(timeColumn, slotColumn, errorColumn string) (q listing.Query, err error) {
	switch {
	case f.Limit < 0 || f.Limit > MaxPage:
		return q, fmt.Errorf("%w: limit %d: 1 to %d are allowed", prescient.ErrInvalid, f.Limit, MaxPage)
	case f.Within < 0:
		return q, fmt.Errorf("%w: within %s: positive times are allowed, and 0 for no bound", prescient.ErrInvalid, f.Within)
	case f.Search < 0:
		return q, fmt.Errorf("%w: search %d: positive numbers are allowed, and 0 for %d", prescient.ErrInvalid, f.Search, DefaultSearch)
	}
	q = listing.Query{Bare: f.Bare, After: f.After, Limit: cmp.Or(f.Limit, 100), Search: cmp.Or(f.Search, DefaultSearch), Within: f.Within}
	rest := &q.Filter
	switch {
	case f.Entity.Key != "":
		if err := f.Entity.Validate(); err != nil {
			return q, err
		}
		first, last := f.Entity.KeyRange()
		q.Bounds.Add("job_key BETWEEN ? AND ?", first[:], last[:])
		q.Entity, q.Index = f.Entity, "job_key"
	case f.Entity.Name != "":
		if err := prescient.ValidIdentifier("entity name", f.Entity.Name); err != nil {
			return q, err
		}
		q.Filter.Add("entity_name = ?", f.Entity.Name)
	}
	if f.JobExec != "" {
		if err := prescient.ValidIdentifier("job_exec", f.JobExec); err != nil {
			return q, err
		}
		rest.Add("job_exec = ?", f.JobExec)
	}
	if f.Tag != "" || f.HasTag {
		rest.Add("tag = ?", f.Tag)
	}
	if f.Outcome != "" {
		if _, err := prescient.ParseOutcome(string(f.Outcome)); err != nil {
			return q, err
		}
		rest.Add("outcome = ?", string(f.Outcome))
	}
	if f.Reason != "" {
		if err := prescient.ValidText("reason", f.Reason, 1000); err != nil {
			return q, err
		}
		rest.Add("LOCATE(?, "+errorColumn+") > 0", f.Reason)
	}
	if f.Failing {
		rest.Add("error_count > 0")
	}
	if !f.InsertedUntil.IsZero() {
		rest.Add("inserted_at <= ?", f.InsertedUntil.UTC())
	}
	if f.NotSchedules {
		rest.Add("entity_name <> ?", prescient.ScheduleEntity)
	}
	if !f.Slot.IsZero() {
		if slotColumn == timeColumn {
			rest = &q.Bounds
		}
		rest.Add(slotColumn+" = ?", f.Slot.UTC())
	}
	if !f.From.IsZero() {
		q.Bounds.Add(timeColumn+" >= ?", slots.RoundUp(f.From))
	}
	if !f.Before.IsZero() {
		q.Bounds.Add(timeColumn+" < ?", slots.RoundUp(f.Before))
	}
	return q, nil
}

// list reads a page, and says in its error where the search ended early.
func list[R listing.Row](ctx context.Context, c *Client, db Lister, l listing.Listing, q listing.Query, what string, payload func(*R) *json.RawMessage) ([]R, error) {
	page, stop, err := listing.Read[R](ctx, &c.tables, db, l, q)
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", what, err)
	}
	for i := range page {
		if p := payload(&page[i]); len(*p) == 0 {
			*p = nil // it is read so for NULL
		}
	}
	if stop != nil {
		return page, &SearchedError{Rows: stop.Rows, Reached: stop.Reached, After: stop.After}
	}
	return page, nil
}

// Pending lists pending rows in the order in which they come due, on a pool made by connect.Open. The error wraps ErrSearched
// where it comes with the rows that were found until then.
func (c *Client) Pending(ctx context.Context, db Lister, f ListFilter) ([]prescient.FutureJob, error) {
	q, err := f.query("next_check_at", "next_check_at", "last_error")
	if err != nil {
		return nil, err
	}
	if f.Outcome != "" {
		return nil, fmt.Errorf("%w: outcome %q: a pending check has no outcome yet", prescient.ErrInvalid, f.Outcome)
	}
	return list(ctx, c, db, listing.Pending, q, "pending checks", func(job *prescient.FutureJob) *json.RawMessage { return &job.Payload })
}

// History lists ended rows, the latest first, on a pool made by connect.Open. The error wraps ErrSearched where it comes with
// the rows that were found until then.
func (c *Client) History(ctx context.Context, db Lister, f ListFilter) ([]Ended, error) {
	q, err := f.query("ended_at", "slot", "error")
	if err != nil {
		return nil, err
	}
	if f.Entity.Key != "" {
		if q.Parts, err = listing.HistoryParts(f.After, time.Now()); err != nil {
			return nil, err
		}
	}
	return list(ctx, c, db, listing.History, q, "history", func(end *Ended) *json.RawMessage { return &end.Payload })
}

// MaxLast is of how many entities LastEnds tells at most.
const MaxLast = 200

// lastEnds is how many of the latest ends of an entity are looked at: those that something took the place of tell little.
const lastEnds = 5

// LastEnds returns the latest end of each of some entities that has one, without its payload, on a pool made by connect.Open: by one statement for those
// that ended lately, and one for the others. Ends of the check of one job_exec that has no tag are passed over, and among the last few those that are
// superseded, where there is another.
func (c *Client) LastEnds(ctx context.Context, db Lister, entities []prescient.Entity, but string) (map[prescient.Entity]Ended, error) {
	if len(entities) > MaxLast {
		return nil, fmt.Errorf("%w: %d entities: %d at most are allowed", prescient.ErrInvalid, len(entities), MaxLast)
	}
	last := make(map[prescient.Entity]Ended, len(entities))
	for _, within := range listing.LastParts(time.Now()) {
		var arms []string
		for _, e := range entities {
			if end, found := last[e]; !found || end.Outcome == prescient.Superseded {
				arms = append(arms, c.lastEnd(e, but, within))
			}
		}
		if len(arms) == 0 {
			return last, nil
		}
		var page []Ended
		if err := db.SelectContext(ctx, &page, c.lastEnds(arms)); err != nil {
			return nil, fmt.Errorf("looking for the last ends of entities: %w", err)
		}
		for _, end := range page {
			end.Payload = nil
			if is, found := last[end.Entity()]; !found || end.tellsMoreThan(is) {
				last[end.Entity()] = end
			}
		}
	}
	return last, nil
}

// tellsMoreThan says which end is told of an entity.
func (e Ended) tellsMoreThan(other Ended) bool {
	if changed := e.Outcome == prescient.Superseded; changed != (other.Outcome == prescient.Superseded) {
		return !changed
	}
	return e.EndedAt.After(other.EndedAt)
}

func (c *Client) lastEnd(e prescient.Entity, but, within string) string {
	from, to := e.KeyRange()
	return c.tables.Fill("list/last_end", "{first}", literal.Of(literal.AppendKey, from), "{last}", literal.Of(literal.AppendKey, to), "{but}", literal.Of(literal.AppendKey, prescient.KeyOf(e, but, "")), "{within}", within, "{limit}", strconv.Itoa(lastEnds))
}

func (c *Client) lastEnds(arms []string) string {
	return c.tables.Fill("list/last_ends", "{payload}", "''", "{ends}", strings.Join(arms, "\nUNION ALL\n"))
}

// Load is how many rows wait for a slot.
type Load struct {
	Slot time.Time `json:"slot"`
	Jobs int       `json:"jobs"`
	// About says that more wait than were counted: Jobs is what they come to by the share of keys that those have.
	About bool `json:"about"`
}

// LoadState says how a slot stands.
type LoadState string

// The states of slots for which rows wait.
const (
	LoadOverdue LoadState = "overdue" // it should be over
	LoadNow     LoadState = "now"     // it has come
	LoadComing  LoadState = "coming"
)

// State says how the slot stands at a time.
func (l Load) State(grid slots.Grid, now time.Time) LoadState {
	switch current := grid.Floor(now); {
	case l.Slot.Before(current):
		return LoadOverdue
	case l.Slot.Equal(current):
		return LoadNow
	}
	return LoadComing
}

const (
	// maxCounted is how many rows Load counts of all slots together, leastCounted how many at least of each.
	maxCounted   = 50_000
	leastCounted = 100
)

// Load says how many rows wait for each slot from one time (inclusive) to before another, of which it lists at most limit. It counts up to
// 50,000 rows, as many of each slot as of the others. Where more wait, it says about how many: within 10 % mostly, as keys are hashes.
func (c *Client) Load(ctx context.Context, db prescient.DB, from, before time.Time, limit int) ([]Load, error) {
	return c.load(ctx, db, from, before, limit, maxCounted)
}

func (c *Client) load(ctx context.Context, db prescient.DB, from, before time.Time, limit, count int) ([]Load, error) {
	if limit < 1 || limit > MaxPage {
		return nil, fmt.Errorf("%w: limit %d: 1 to %d are allowed", prescient.ErrInvalid, limit, MaxPage)
	}
	all, err := store.Rows(ctx, db, "looking for what is due", c.tables.Stmt.Get("sweep/overdue"), func(l *Load) []any { return []any{&l.Slot} }, slots.RoundUp(from), slots.RoundUp(before), limit)
	if err != nil {
		return nil, err
	}
	most := max(leastCounted, count/max(1, len(all)))
	for some := range slices.Chunk(all, store.AtOnce) {
		var looks []any
		for i, l := range some {
			looks = append(looks, i, l.Slot, most+1)
		}
		type counted struct {
			at, jobs int
			last     []byte
		}
		counts, err := store.Rows(ctx, db, "counting what is due", store.Together(c.tables.Stmt.Get("list/load"), len(some)), func(n *counted) []any { return []any{&n.at, &n.jobs, &n.last} }, looks...)
		if err != nil {
			return nil, err
		}
		for _, n := range counts {
			if l := &some[n.at]; n.jobs > most {
				l.Jobs, l.About = inAll(n.jobs, n.last), true
			} else {
				l.Jobs = n.jobs
			}
		}
	}
	return slices.DeleteFunc(all, func(l Load) bool { return l.Jobs == 0 }), nil
}

// inAll is about how many rows there are where the first n of them, in the order of their keys, reach to a key.
func inAll(n int, last []byte) int {
	const end, most = 1 << 64, 1e12
	return int(min(max(float64(n), float64(n)*end/max(1, float64(binary.BigEndian.Uint64(last[:8])))), most))
}
