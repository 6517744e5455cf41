package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
)

// RequeueOptions are for Requeue.
type RequeueOptions struct {
	// Filter says which ends, by their time of ending. It names an outcome, or an entity or a job_exec with AllOutcomes;
	// and, unless that is one entity, From as well: history is long. Its Limit and After are not used.
	Filter ListFilter
	// AllOutcomes takes ends of every outcome, those that are done and those that were cancelled too. It is given instead
	// of an outcome in the filter.
	AllOutcomes bool
	// DueAt is when the checks are due; the next open slot by default.
	DueAt time.Time
	// Spread puts each somewhere in so much time after that, always at the same place.
	Spread time.Duration
	// Limit is how many checks are requeued at most, from 1 to MaxPage. It has no default: a limit that was worked out may
	// well be 0, which must not mean a thousand.
	Limit int
	// DryRun only says what would be done.
	DryRun bool
}

// RequeueAction is what Requeue did with an end.
type RequeueAction string

// The actions.
const (
	// DidRequeue: the check is pending again.
	DidRequeue RequeueAction = "requeued"
	// WouldRequeue is DidRequeue in a dry run.
	WouldRequeue RequeueAction = "would requeue"
	// DidKeepPending: the check is pending already, and stays as it is.
	DidKeepPending RequeueAction = "kept"
	// DidSupersede: the check ended again later; that end counts, whether or not the filter has it.
	DidSupersede RequeueAction = "superseded"
	// DidRefuse: no check may have such names or such a payload, which plain SQL wrote into history, or an insert of before could have.
	DidRefuse RequeueAction = "refused"
)

// RequeuedJob is an end that Requeue looked at.
type RequeuedJob struct {
	EntityName string            `json:"entity_name"`
	EntityKey  string            `json:"entity_key"`
	JobExec    string            `json:"job_exec"`
	Tag        string            `json:"tag"`
	Outcome    prescient.Outcome `json:"outcome"`
	EndedAt    time.Time         `json:"ended_at"`
	Did        RequeueAction     `json:"did"`
	// Slot that it waits for, where it is pending.
	Slot *time.Time `json:"slot,omitempty"`
}

// Requeued is what Requeue did.
type Requeued struct {
	// Jobs are the ends that were looked at, the latest first.
	Jobs []RequeuedJob
	// Requeued, Kept, Superseded and Refused count them.
	Requeued, Kept, Superseded, Refused int
	// More says that the limit was reached before the end of the list.
	More bool
}

// requeueBatch is how many ends are looked at, and inserted in one transaction.
const requeueBatch = 500

// Requeue makes checks that ended pending again: with their payload, all counts at zero, and a new time,
// after which they expire as late as before. History keeps
// their ends. What is pending stays as it is, also where its slot has begun. Of a check that ended several times only the
// last end counts. Requeue works in batches, a transaction each: interrupted, it can be run again. Each leaves its entry in
// the audit.
//
// The error wraps prescient.ErrInvalid or prescient.ErrBeyondHorizon; what was done until then stands in the result.
func (c *Client) Requeue(ctx context.Context, db *sqlx.DB, o RequeueOptions) (Requeued, error) {
	var did Requeued
	f := o.Filter
	switch {
	case f.Outcome == "" && !o.AllOutcomes:
		return did, fmt.Errorf("%w: requeue has no outcome; name one, or set AllOutcomes", prescient.ErrInvalid)
	case f.Outcome != "" && o.AllOutcomes:
		return did, fmt.Errorf("%w: requeue has the outcome %s and AllOutcomes; give one of the two", prescient.ErrInvalid, f.Outcome)
	case f.Entity == prescient.Entity{} && f.JobExec == "" && o.AllOutcomes:
		return did, fmt.Errorf("%w: requeue would take everything; name an entity, a job_exec or an outcome", prescient.ErrInvalid)
	case f.Entity.Key == "" && f.From.IsZero():
		return did, fmt.Errorf("%w: requeue would take all that ever ended; say since when", prescient.ErrInvalid)
	case o.Limit < 1 || o.Limit > MaxPage:
		return did, fmt.Errorf("%w: limit %d: 1 to %d are allowed", prescient.ErrInvalid, o.Limit, MaxPage)
	}
	if err := prescient.ValidSpread(o.Spread); err != nil {
		return did, err
	}
	now, err := c.now(ctx, db)
	if err != nil {
		return did, err
	}
	o.DueAt = cmp.Or(o.DueAt, now)
	r := requeue{Client: c, db: db, options: o, now: now, seen: make(map[prescient.Key]bool)}
	err = r.run(ctx, f)
	return r.did, err
}

// requeue is one Requeue under way.
type requeue struct {
	*Client
	db      *sqlx.DB
	options RequeueOptions
	now     time.Time
	seen    map[prescient.Key]bool // in the pages before
	did     Requeued
	beside  func(ctx context.Context, tx prescient.DB, jobs []RequeuedJob) error // in place of the audit's entries; nil for these
}

func (r *requeue) run(ctx context.Context, f ListFilter) error {
	f.Limit, f.After = requeueBatch, ""
	for {
		page, err := r.History(ctx, r.db, f)
		var early *SearchedError
		if err != nil && !errors.As(err, &early) {
			return err
		}
		if err := r.page(ctx, page); err != nil || r.did.More || len(page) < requeueBatch && early == nil {
			return err
		}
		if early != nil {
			f.After = early.After
		} else {
			f.After = page[len(page)-1].Cursor()
		}
	}
}

// page goes on with a page of ends, the latest first.
func (r *requeue) page(ctx context.Context, page []Ended) error {
	for range handle.MaxTries {
		jobs, inserts, err := r.choose(ctx, page)
		if err != nil {
			return err
		}
		var inserted []Inserted
		if r.options.DryRun {
			inserted, err = r.tryOut(inserts)
		} else {
			inserted, err = r.insert(ctx, jobs, inserts)
		}
		if errors.Is(err, prescient.ErrPending) {
			continue // since it was read; it is to be kept
		}
		if err != nil {
			return fmt.Errorf("requeueing: %w", err)
		}
		r.did.take(jobs, inserted, len(page))
		for i := range jobs {
			r.seen[page[i].Key()] = true
		}
		return nil
	}
	return fmt.Errorf("requeueing: other checks became pending meanwhile, %d times", handle.MaxTries)
}

// insert makes checks pending, and writes the audit of them, in one transaction.
func (r *requeue) insert(ctx context.Context, jobs []RequeuedJob, inserts []prescient.NewJob) (inserted []Inserted, err error) {
	if len(inserts) == 0 && r.beside == nil {
		return nil, nil
	}
	err = handle.InTx(ctx, r.tables.Server, r.db, func(db prescient.DB) error {
		if inserted, err = r.insertAll(ctx, db, inserts); err != nil {
			return err
		}
		if r.beside != nil {
			return r.beside(ctx, db, jobs)
		}
		return r.recordRequeued(ctx, db, jobs, inserted)
	})
	return inserted, err
}

// tryOut says what InsertMany would answer.
func (r *requeue) tryOut(inserts []prescient.NewJob) ([]Inserted, error) {
	would := make([]Inserted, len(inserts))
	for i, job := range inserts {
		due, slot, err := r.place(job.JobExec, job.InPlace().DueAt, r.now)
		if err != nil {
			return nil, err
		}
		would[i] = Inserted{Did: DidInsert, DueAt: due, Slot: slot}
	}
	return would, nil
}

// take adds what was done with the first jobs of a page.
func (r *Requeued) take(jobs []RequeuedJob, inserted []Inserted, page int) {
	for _, job := range jobs {
		switch job.Did {
		case DidRequeue, WouldRequeue:
			r.Requeued++
			if len(inserted) > 0 {
				job.Slot = prescient.At(inserted[0].Slot)
				inserted = inserted[1:]
			}
		case DidKeepPending:
			r.Kept++
		case DidSupersede:
			r.Superseded++
		case DidRefuse:
			r.Refused++
		}
		r.Jobs = append(r.Jobs, job)
	}
	r.More = len(jobs) < page
}

// choose says what is to be done with the ends of a page, up to the limit. What is pending is read before the ends: a check
// that ends in between is found once at least.
func (r *requeue) choose(ctx context.Context, page []Ended) (jobs []RequeuedJob, inserts []prescient.NewJob, err error) {
	if len(page) == 0 {
		return nil, nil, nil
	}
	keys := literal.Keys(page, func(e Ended) prescient.Key { return e.Key() })
	found, err := r.find(ctx, r.db, rowtext.Columns, "job.job_key IN ("+keys+")", false)
	if err != nil {
		return nil, nil, err
	}
	pending := make(map[prescient.Key]prescient.FutureJob, len(found))
	for _, job := range found {
		pending[job.Key()] = job
	}
	latest, err := r.latestEnds(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	here := make(map[prescient.Key]bool, len(page))
	for _, end := range page {
		key := end.Key()
		job := RequeuedJob{EntityName: end.EntityName, EntityKey: end.EntityKey, JobExec: end.JobExec, Tag: end.Tag,
			Outcome: end.Outcome, EndedAt: end.EndedAt, Did: DidRequeue}
		if here[key] || r.seen[key] || latest[key].After(end.EndedAt) || reserved.IsTimer(end.FutureJob) {
			job.Did = DidSupersede
		} else if waits, is := pending[key]; is {
			job.Did, job.Slot = DidKeepPending, prescient.At(waits.NextCheckAt)
		} else {
			if end.EntityName == prescient.ScheduleEntity {
				end.Payload = nil // it says by when the run was to be called for the first time
			}
			again := prescient.NewJob{Entity: end.Entity(), JobExec: end.JobExec, Tag: end.Tag, DueAt: r.options.DueAt, Spread: r.options.Spread,
				ExpiresAfter: expiresAfter(end), Payload: end.Payload, OnPending: prescient.OnPendingError}
			switch {
			case requeueable(again) != nil, r.beside != nil && r.isBeyond(again):
				job.Did = DidRefuse
			case len(inserts) == r.options.Limit-r.did.Requeued:
				return jobs, inserts, nil
			default:
				if r.options.DryRun {
					job.Did = WouldRequeue
				}
				inserts = append(inserts, again)
			}
		}
		here[key] = true
		jobs = append(jobs, job)
	}
	return jobs, inserts, nil
}

// isBeyond says whether a check would be beyond its job_exec's horizon, which leaves it out of a bulk run.
func (r *requeue) isBeyond(job prescient.NewJob) bool {
	_, _, err := r.place(job.JobExec, job.InPlace().DueAt, r.now)
	return err != nil
}

// requeueable returns an error where the tables would refuse a check, and all that is inserted with it: apps may write any end into history.
func requeueable(job prescient.NewJob) error {
	if job.Entity.Name == prescient.ScheduleEntity { // its room made it
		return job.Validate()
	}
	return errors.Join(job.Validate(), reserved.RefuseNew(job.Entity))
}

// expiresAfter is how long after it was due an ended check expired; 0 for never.
func expiresAfter(end Ended) time.Duration {
	if end.ExpiresAt == nil {
		return 0
	}
	return max(end.ExpiresAt.Sub(end.DueAt), time.Microsecond)
}

// latestEnds returns when checks ended last.
func (r *requeue) latestEnds(ctx context.Context, keys string) (map[prescient.Key]time.Time, error) {
	type end struct {
		key prescient.Key
		at  time.Time
	}
	ends, err := store.Rows(ctx, r.db, "looking for later ends", r.tables.Fill("operate/latest_ends", "{keys}", keys), func(row *end) []any {
		return []any{store.Key(&row.key), &row.at}
	})
	latest := make(map[prescient.Key]time.Time)
	for _, row := range ends {
		latest[row.key] = row.at
	}
	return latest, err
}
