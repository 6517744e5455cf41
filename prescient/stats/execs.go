package stats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/internal/tally"
	"prescient/slots"
	text "prescient/sql"
)

// MaxLines is how many lines of the books are read at most: the latest.
const MaxLines = 100_000

// Report is what became of the checks of some slots.
type Report struct {
	// From and Before are the span of slots. Where there was too much to read, From is the earliest slot that was read whole, or the latest where none
	// was, and Cut is true.
	From   time.Time `json:"from"`
	Before time.Time `json:"before"`
	Cut    bool      `json:"cut"`
	Execs  []Exec    `json:"execs"`
}

// Exec is what became of the checks of a job_exec.
type Exec struct {
	JobExec string `json:"job_exec"`
	// Calls whose answers were committed, or dropped since the app had changed the check. Errors are calls that answered with one; Timeouts and
	// Panics are among them.
	Calls    uint64 `json:"calls"`
	Errors   uint64 `json:"errors"`
	Timeouts uint64 `json:"timeouts"`
	Panics   uint64 `json:"panics"`
	// Moved checks went to a later slot after a call.
	Moved   uint64 `json:"moved"`
	Dropped uint64 `json:"dropped"`
	PutOff  PutOff `json:"put_off"`
	// Ends by outcome, without those that apps write: cancelled and superseded.
	Ends map[prescient.Outcome]uint64 `json:"ends"`
	// Run is how long calls took, Lateness how long after its slot they began; in buckets of 5 %.
	Run      Spread `json:"run"`
	Lateness Spread `json:"lateness"`
	// Reasons are the commonest for errors, unsettled ends and unknown job_execs.
	Reasons []tally.Reason `json:"reasons"`
	// FailsSince is the first slot from which on some call failed in each slot that had calls; nil where the latest one had none.
	FailsSince *time.Time `json:"fails_since"`
	// FailedLast is the latest slot in which a call failed; nil where none did.
	FailedLast *time.Time `json:"failed_last"`
}

// PutOff is why checks went to a later slot without a call.
type PutOff struct {
	Unregistered uint64 `json:"unregistered"`
	Paused       uint64 `json:"paused"`
	Abandoned    uint64 `json:"abandoned"`
	// Waiting for a run, or a lock; or a long run is under way.
	Waiting   uint64 `json:"waiting"`
	Otherwise uint64 `json:"otherwise"`
}

// Sum is how many there were.
func (p PutOff) Sum() uint64 {
	return p.Unregistered + p.Paused + p.Abandoned + p.Waiting + p.Otherwise
}

// Ended is how many checks ended.
func (e Exec) Ended() (n uint64) {
	for _, ends := range e.Ends {
		n += ends
	}
	return n
}

// Unsettled is how many checks ended otherwise than as done.
func (e Exec) Unsettled() uint64 { return e.Ended() - e.Ends[prescient.Done] }

// Share is the share of calls that failed; 0 where there was none.
func (e Exec) Share() float64 {
	if e.Calls == 0 {
		return 0
	}
	return float64(e.Errors) / float64(e.Calls)
}

// Spread says how durations are spread: their mean, those that 50, 95 and 99 of a hundred do not exceed, and the longest. In milliseconds.
type Spread struct {
	MeanMS    float64 `json:"mean_ms"`
	P50MS     int64   `json:"p50_ms"`
	P95MS     int64   `json:"p95_ms"`
	P99MS     int64   `json:"p99_ms"`
	LongestMS int64   `json:"longest_ms"`
}

// maxReasons are those of a job_exec that are told.
const maxReasons = 5

// Execs tells what became of the checks of the slots from one time to before another, by job_exec: those with most errors first. It reads
// MaxLines lines at most. The error wraps prescient.ErrInvalid where the span is empty, and prescient.ErrNotMigrated.
func Execs(ctx context.Context, db *sqlx.DB, prefix string, dialect text.Dialect, from, before time.Time) (Report, error) {
	if err := validSpan(from, before); err != nil {
		return Report{}, err
	}
	t, err := store.OpenTables(ctx, db, prefix, 0, dialect)
	if err != nil {
		return Report{}, err
	}
	return latest(ctx, db, &t, from, before, upToLines(MaxLines))
}

// validSpan refuses a span that is empty.
func validSpan(from, before time.Time) error {
	if !from.Before(before) {
		return fmt.Errorf("%w: from %s to before %s: the first must be earlier", prescient.ErrInvalid, from.UTC().Format(time.RFC3339), before.UTC().Format(time.RFC3339))
	}
	return nil
}

// ExecsWithin is Execs of tables that are open, which reads for about so long at most.
func ExecsWithin(ctx context.Context, db prescient.DB, tables *store.Tables, from, before time.Time, within time.Duration) (Report, error) {
	if err := validSpan(from, before); err != nil {
		return Report{}, err
	}
	return latest(ctx, db, tables, from, before, store.NewStretches(firstLines, MaxLines, within, time.Now()))
}

// firstLines is how many lines are read at first where there is a bound in time.
const firstLines = 2_000

// upToLines is one stretch of so many lines.
func upToLines(lines int) *store.Stretches { return store.NewStretches(lines, lines, 0, time.Time{}) }

// maxLately is how many lines Lately reads at most.
const maxLately = 20_000

// Lately is ExecsBy of the last hour, or of three slots where these are longer, of fewer lines.
func Lately(ctx context.Context, db prescient.DB, tables *store.Tables, now time.Time) (Report, error) {
	return latest(ctx, db, tables, now.Add(-LatelyFor(tables.Grid)).Truncate(time.Second), tables.Grid.Next(now), upToLines(maxLately))
}

// LatelyFor is of how long Lately tells.
func LatelyFor(grid slots.Grid) time.Duration { return max(time.Hour, 3*grid.Resolution()) }

// errMore ends the reading of lines; it never leaves the package.
var errMore = errors.New("there are more lines")

// latest reads the latest lines, one stretch of them after the other. Each begins behind the earliest slot that was read whole.
func latest(ctx context.Context, db prescient.DB, tables *store.Tables, from, before time.Time, stretches *store.Stretches) (Report, error) {
	r := Report{From: from, Before: before}
	all := &sums{of: make(map[string]*sum)}
	upTo := before
	stretches.UpTo(tables.InOne(MaxLines+1) - 1) // the last row says that there are more
	for {
		err := all.read(ctx, db, tables.Stmt, from, upTo, stretches.Take(time.Now()))
		if r.Cut = errors.Is(err, errMore); !r.Cut && err != nil {
			return r, fmt.Errorf("reading the books by job_exec: %w", err)
		}
		over := !r.Cut || stretches.Over(time.Now())
		if !r.Cut || over && all.ended.IsZero() {
			all.endSlot() // where one slot has more lines than are read, its last ones are better than none
		}
		if over {
			break
		}
		if !all.ended.IsZero() {
			upTo = all.ended
		}
	}
	if r.Cut {
		r.From = all.ended
	}
	for name, s := range all.of {
		r.Execs = append(r.Execs, s.exec(name))
	}
	slices.SortFunc(r.Execs, func(x, y Exec) int {
		return cmp.Or(cmp.Compare(y.Errors, x.Errors), cmp.Compare(y.Unsettled(), x.Unsettled()), cmp.Compare(y.Calls, x.Calls), cmp.Compare(x.JobExec, y.JobExec))
	})
	return r, nil
}

// read sums up lines of slots before a time. The error is errMore where there are more than so many: those of the earliest slot are not in the sums yet.
func (s *sums) read(ctx context.Context, db prescient.DB, statements text.Statements, from, before time.Time, most int) error {
	read := 0
	s.lines = s.lines[:0]
	return store.EachRow(ctx, db, func(scan store.Scan) error {
		var slot time.Time
		of, line, err := tally.Scan(scan, &slot)
		if err != nil {
			return err
		}
		if read > 0 && !slot.Equal(s.slot) {
			s.endSlot()
		}
		if read == most {
			return errMore
		}
		read++
		s.slot, s.lines = slot, append(s.lines, named{of.JobExec, line})
		return nil
	}, statements.Get("stats/execs"), from, before, most+1)
}
