package advice

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/advice/estimate"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

const (
	// MaxEnds is how many ends are taken at most, of what is asked for, and MaxPending how many pending rows are read.
	MaxEnds    = 200_000
	MaxPending = 100_000
	// MaxGroups are advised at most, those of most checks first, and MaxNamed are named.
	MaxGroups = 20
	MaxNamed  = 100
	// MaxChecks of a group are made use of.
	MaxChecks = 20_000
	// Within is how long it reads at most, by default, of history, and as long again of what is pending.
	Within = 10 * time.Second
)

// Options are what is asked for; zero means the default.
type Options struct {
	Prefix  string
	Dialect text.Dialect
	// JobExec and Entity are the only job_exec and kind of entity that is told of; all by default.
	JobExec, Entity string
	// Within is how long it reads.
	Within time.Duration
	// Question is what is asked of each of them. Its Slot is read.
	Question estimate.Question
	// OtherCancels says that cancels do not mean that it happened: then they only say how long it had not.
	OtherCancels bool
	// Most rows of each are read, MaxEnds and MaxPending by default; of a group MostChecks are made use of, and MostGroups are advised.
	Most, MostChecks, MostGroups int
}

// Report is what the checks of a time come to.
type Report struct {
	// From and Before is when they were inserted.
	From   time.Time `json:"from"`
	Before time.Time `json:"before"`
	// Ends and Pending rows were read, of others too: of the share of all entities. 1 is all.
	Ends    int     `json:"ends"`
	Pending int     `json:"pending"`
	Share   float64 `json:"share"`
	// Slot is the distance of slots, in seconds.
	SlotSeconds int64   `json:"slot_seconds"`
	Groups      []Group `json:"groups"`
	// Further are how many there are beside Groups: those of fewest checks.
	Further int `json:"further"`
}

// Group is a job_exec with a kind of entity.
type Group struct {
	JobExec string `json:"job_exec"`
	Entity  string `json:"entity_name"`
	estimate.Advice
}

// row is one that was read.
type row struct {
	key         prescient.Key
	ended       time.Time
	entity      string
	jobExec     string
	check       estimate.Check
	outcomeText string
}

// Read reads the checks that were inserted from one time to before another, and gives advice. Those with most checks come first. The error wraps
// prescient.ErrInvalid where nothing can be told of what is asked for, and prescient.ErrNotMigrated.
//
// It takes those that ended, and those that are pending: checks that ended in a time would be too many of those that are settled soon. Of more than
// it reads it takes those with the first keys: these are hashes, and so the checks of some entities, whole. Timers and runs of schedules wait for
// nothing, and are left out.
func Read(ctx context.Context, db *sqlx.DB, o Options, from, before time.Time) (Report, error) {
	t, err := store.OpenTables(ctx, db, o.Prefix, 0, o.Dialect)
	if err != nil {
		return Report{}, err
	}
	o.Question.Slot = t.Grid.Resolution()
	if err := o.validate(from, before, o.Question.Slot); err != nil {
		return Report{}, err
	}
	r := reader{ctx, db, &t, o, from.UTC(), before.UTC(), cmp.Or(o.Within, Within), make(map[string]string)}
	ends, readEnds, last, err := r.ends(cmp.Or(o.Most, MaxEnds))
	if err != nil {
		return Report{}, err
	}
	pending, readPending, reached, err := r.pending(last, cmp.Or(o.Most, MaxPending))
	if err != nil {
		return Report{}, err
	}
	report := Report{From: r.from, Before: r.before, Ends: readEnds, Pending: readPending, Share: shareOf(reached), SlotSeconds: int64(t.Grid.Resolution().Seconds())}
	ends = slices.DeleteFunc(ends, func(e row) bool { return bytes.Compare(e.key[:], reached[:]) > 0 })
	report.Groups, report.Further = grouped(append(ends, pending...), o)
	return report, nil
}

// validate returns an error that wraps prescient.ErrInvalid where nothing can be told of what is asked for.
func (o Options) validate(from, before time.Time, slot time.Duration) error {
	if !from.Before(before) {
		return fmt.Errorf("%w: from %s to before %s: the first must be earlier", prescient.ErrInvalid, from.UTC().Format(time.RFC3339), before.UTC().Format(time.RFC3339))
	}
	if o.Entity == prescient.ScheduleEntity {
		return fmt.Errorf("%w: kind of entity %q: timers and runs of schedules wait for nothing, and any other kind is allowed", prescient.ErrInvalid, o.Entity)
	}
	if most := o.Question.Distances.Most; most > 0 && most < slot {
		return fmt.Errorf("%w: the most distance between checks is %s: a slot, which is %s, and more are allowed", prescient.ErrInvalid, most, slot)
	}
	if o.JobExec != "" {
		if err := prescient.ValidIdentifier("job_exec", o.JobExec); err != nil {
			return err
		}
	}
	if o.Entity != "" {
		return prescient.ValidIdentifier("kind of entity", o.Entity)
	}
	return nil
}

type reader struct {
	ctx          context.Context
	db           *sqlx.DB
	tables       *store.Tables
	asked        Options
	from, before time.Time
	within       time.Duration
	names        map[string]string
}

// wanted says whether a row is one that is asked for.
func (r reader) wanted(e row) bool {
	return e.entity != prescient.ScheduleEntity && (r.asked.JobExec == "" || e.jobExec == r.asked.JobExec) && (r.asked.Entity == "" || e.entity == r.asked.Entity) &&
		!e.check.Inserted.Before(r.from) && e.check.Inserted.Before(r.before)
}

// short is a row whose names take room once.
func (r reader) short(e row) row {
	for _, name := range []*string{&e.entity, &e.jobExec} {
		if known, is := r.names[*name]; is {
			*name = known
		} else {
			r.names[*name] = *name
		}
	}
	e.outcomeText = ""
	return e
}

// ends reads ended checks in the order of their keys, and says up to which key it has all. Those that are not asked for are left out.
func (r reader) ends(most int) (all []row, read int, upTo prescient.Key, err error) {
	began := time.Now()
	p, cursor := firstPage, row{ended: r.from}
	for {
		sent, to, limit := time.Now(), p.to(), r.tables.InOne(min(p.limit, most-len(all)))
		page, err := store.Rows(r.ctx, r.db, "reading history by key", r.tables.Stmt.Get("advice/ends"), func(e *row) []any {
			return []any{store.Key(&e.key), &e.ended, &e.entity, &e.jobExec, &e.check.Inserted, &e.check.FirstSlot, &e.check.Slot,
				store.OrZero(&e.check.Started), &e.outcomeText, &e.check.Answers}
		}, cursor.key[:], to[:], cursor.key[:], cursor.ended, r.from, limit)
		if err != nil {
			return nil, 0, upTo, err
		}
		slices.SortFunc(page, func(x, y row) int { return cmp.Or(bytes.Compare(x.key[:], y.key[:]), x.ended.Compare(y.ended)) })
		read += len(page)
		full := len(page) == limit
		if full {
			cursor = page[len(page)-1]
		} else {
			cursor = row{key: to, ended: behindAll}
		}
		for _, e := range page {
			if e.check.Outcome, e.check.Ended = prescient.Outcome(e.outcomeText), e.ended; r.wanted(e) {
				all = append(all, r.short(e))
			}
		}
		switch over := len(all) >= most || time.Since(began) >= r.within; {
		case !full && (to == lastKey || over):
			return all, read, to, nil
		case over && page[0].key == cursor.key:
			return all, read, cursor.key, nil // one check, over and over
		case over:
			return all, read, before(cursor.key), nil // this key may have more
		}
		p = p.next(full, time.Since(sent), min(aim, r.within/4))
	}
}

// pending reads pending checks up to a key, and says how far it came. Those that are not asked for are left out.
func (r reader) pending(last prescient.Key, most int) (all []row, read int, upTo prescient.Key, err error) {
	stretches := store.NewStretches(min(store.FirstStretch, most), most, r.within, time.Now()).UpTo(r.tables.InOne(most))
	var cursor prescient.Key
	for {
		limit := stretches.Take(time.Now())
		page, err := store.Rows(r.ctx, r.db, "reading what is pending by key", r.tables.Stmt.Get("advice/pending"), func(p *row) []any {
			return []any{store.Key(&p.key), &p.entity, &p.jobExec, &p.check.Inserted, &p.check.FirstSlot, &p.check.Slot, &p.check.Answers}
		}, cursor[:], last[:], limit)
		if err != nil {
			return nil, 0, upTo, err
		}
		read += len(page)
		for _, e := range page {
			if r.wanted(e) {
				all = append(all, r.short(e))
			}
		}
		if len(page) < limit {
			return all, read, last, nil
		}
		if cursor = page[len(page)-1].key; stretches.Over(time.Now()) {
			return all, read, cursor, nil
		}
	}
}
