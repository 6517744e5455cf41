package longrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/prescient/internal/tally"
	"prescient/prescient/longrun/internal/check"
	"prescient/prescient/longrun/internal/claimer"
)

// conclude commits what a call answered, unless the run is lost. It tries while the lease lives, which goes on being renewed.
func (e *exec) conclude(run *Run, a prescient.Answer, ran time.Duration) {
	log := e.options.Log.With().Str("job_exec", run.job.JobExec).Stringer("entity", run.job.Entity()).Str("tag", run.job.Tag).Logger()
	wait := store.NewBackOff()
	for run.alive(time.Now()) {
		ctx, cancel := context.WithTimeout(context.Background(), e.send.Timeout)
		err := e.tryConclude(ctx, run, a, ran)
		cancel()
		switch {
		case err == nil:
			run.became = claimer.Ended
			if a.Cause == prescient.CauseWaits {
				run.became = claimer.HandedOn
			}
			return
		case errors.Is(err, ErrLost):
			run.lose(ErrLost)
		case errno.Passing(err) || errors.Is(err, check.ErrMoved):
			time.Sleep(wait.NextBackOff())
		case errno.KeepsRow(err) && a.Cause == prescient.CauseCalled && a.Err == nil:
			a = prescient.Answer{Err: fmt.Errorf("it could not end: %w", err)}
			log.Error().Err(err).Msg("a long run cannot be ended; its call counts as an error")
		case errno.KeepsRow(err) && a.Cause != prescient.CauseRefused && a.Cause != prescient.CauseWaits:
			run.failed = a.Cause == prescient.CauseCalled
			a = prescient.Answer{Cause: prescient.CauseRefused, Err: err}
			log.Error().Err(err).Msg("a long run cannot be ended; its check is put off, and not called any more")
		default:
			// It lapses, and is called again: as any check whose end cannot be written.
			log.Error().Err(err).Msg("the end of a long run could not be written")
			run.lose(ErrLost)
		}
	}
	log.Warn().Err(a.Err).Msg("a long run is lost; nothing of its call is committed any more")
}

// tryConclude commits the end or the move of a check together with the end of its run, in one transaction: first the check is locked, as
// a slot run does, then the run's token proved.
func (e *exec) tryConclude(ctx context.Context, run *Run, a prescient.Answer, ran time.Duration) error {
	tx, err := e.send.DB.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing once it is committed
	p, err := check.Find(ctx, tx.Tx, &e.tables, e.options.Name, run.job, run.waitsAt())
	if err != nil {
		return err
	}
	c := conclusion{Present: p, exec: e, tx: tx, run: run, ran: ran}
	if run.row.schedule != "" && run.row.check.isRenewed(&p) {
		if err := p.Lock(ctx); err != nil {
			return err
		}
		if err := c.supersede(ctx, a); err != nil {
			return err
		}
		return c.commit()
	}
	if !run.row.check.is(&p) {
		v := prescient.Verdict{Outcome: prescient.Cancelled, Reason: ErrDropped.Error(), DueAt: run.row.check.dueAt, CheckCount: run.row.check.checkCount}
		c.as = v.Outcome
		if err := c.fence(ctx, v, false); err != nil {
			return err
		}
		if err := c.offerNext(ctx); err != nil {
			return err
		}
		if err := c.count(ctx, run.job, a, v, true); err != nil {
			return err
		}
		if err := e.tell(ctx, tx, e.endOf(run.job, v, c.Now)...); err != nil {
			return err
		}
		return c.commit()
	}
	if err := p.Lock(ctx); err != nil {
		return err
	}
	if err := c.write(ctx, a); err != nil {
		return err
	}
	return c.commit()
}

// conclusion is what is written at the end of a call.
type conclusion struct {
	check.Present
	*exec
	tx  *sqlx.Tx
	run *Run
	ran time.Duration
	as  prescient.Outcome // how the check ends; empty where it goes on

	offered []*known // the run that waited for this one
}

// supersede ends a run whose schedule was changed while it was under way: its check, which goes on where it waits, ends with it.
func (c *conclusion) supersede(ctx context.Context, a prescient.Answer) error {
	job := c.run.job
	c.Count(&job)
	job.TotalMS += literal.Millis(c.ran)
	v := reserved.Superseded(job)
	v.CheckCount = c.run.row.check.checkCount
	if a.Cause == prescient.CauseRefused {
		v = c.keep(job, a)
	}
	return c.settle(ctx, job, a, v)
}

// write writes what becomes of the check and of the run.
func (c *conclusion) write(ctx context.Context, a prescient.Answer) error {
	job := c.run.job // with the slot in which it started
	c.Count(&job)
	v := prescient.Decide(c.tables.Grid, c.guards, job, a, c.Now)
	switch a.Cause {
	case prescient.CauseWaits: // handed on
		if err := c.fence(ctx, v, true); err != nil {
			return err
		}
		c.run.row.allocatedUntil = c.Now
		return c.Move(ctx, job, v)
	case prescient.CauseRefused:
		v = c.keep(job, a)
	}
	job.TotalMS += literal.Millis(c.ran)
	if next := c.run.terms.Next; a.Err != nil && a.Cause == prescient.CauseCalled && v.Outcome == "" && !next.IsZero() && !v.Slot.Before(next) {
		v.Outcome, v.Reason = prescient.Failed, fmt.Sprintf("%s (not tried again: the next occurrence is due at %s)", v.Reason, next.UTC().Format(time.RFC3339))
	}
	return c.settle(ctx, job, a, v)
}

// keep is what becomes of a check that the server refuses to end: a foreign key of the app keeps it, or a trigger. It waits, and is not called; the
// slot runs that meet it try to end it.
func (c *conclusion) keep(job prescient.FutureJob, a prescient.Answer) prescient.Verdict {
	v := prescient.Decide(c.tables.Grid, c.guards, job, a, c.Now)
	if c.run.failed {
		v.ErrorCount++
	}
	return v
}

// settle writes the end or the move of the check, and the end of its run or that it waits to be called again.
func (c *conclusion) settle(ctx context.Context, job prescient.FutureJob, a prescient.Answer, v prescient.Verdict) error {
	if err := c.fence(ctx, v, false); err != nil {
		return err
	}
	c.as = v.Outcome
	if v.Outcome == "" {
		if err := c.Move(ctx, job, v); err != nil {
			return err
		}
		return c.count(ctx, job, a, v, false)
	}
	if err := c.offerNext(ctx); err != nil {
		return err
	}
	if err := c.End(ctx, job, v, &c.run.clock.Told, c.ran); err != nil {
		return err
	}
	if err := c.count(ctx, job, a, v, false); err != nil {
		return err
	}
	return c.tell(ctx, c.tx, c.endOf(job, v, c.Now)...)
}

// count adds the call to the books by job_exec.
func (c *conclusion) count(ctx context.Context, job prescient.FutureJob, a prescient.Answer, v prescient.Verdict, dropped bool) error {
	return tally.Add(ctx, c.tx.Tx, &c.tables, tally.Noted{Job: &job, Cause: a.Cause, Err: a.Err, Called: true, Started: c.run.clock.Told, Ended: c.Now, Ran: c.ran,
		Verdict: &v, Dropped: dropped})
}

// fence proves the run's token, and says what becomes of the run: it ends, is handed on, or waits to be called again.
func (c *conclusion) fence(ctx context.Context, v prescient.Verdict, handOn bool) error {
	var until, ended *time.Time
	var as *string
	agent := c.options.Name
	if v.Outcome != "" {
		name := string(v.Outcome)
		ended, as = &c.Now, &name
	} else if handOn {
		until, agent = &c.Now, ""
	}
	keeps := v.Outcome != prescient.Done
	n, err := store.Affected(ctx, c.tx, c.tables.Stmt.Get("longrun/fence"), until, agent, ended, as, keeps, v.DueAt, v.CheckCount, c.run.row.key[:], c.run.row.token, c.options.Name)
	switch {
	case err != nil:
		return fmt.Errorf("fence: %w", err)
	case n == 0:
		return ErrLost
	}
	return nil
}

// offerNext offers the run that waits for the end of this one.
func (c *conclusion) offerNext(ctx context.Context) error {
	if c.run.terms.Overlap != Queue {
		return nil
	}
	first, last := c.run.job.Entity().KeyRange()
	n, err := store.Affected(ctx, c.tx, c.tables.Stmt.Get("longrun/offer_next"), c.Now, first[:], last[:])
	if err != nil {
		return fmt.Errorf("offering the next long run of the schedule: %w", err)
	}
	if n == 0 {
		return nil
	}
	offered, err := store.Rows(ctx, c.tx, "reading the next long run of the schedule", c.tables.Stmt.Get("longrun/next"), func(row *known) []any {
		return []any{store.Key(&row.key), &row.pool, &row.token}
	}, first[:], last[:])
	for i := range offered {
		offered[i].allocatedUntil = c.Now
		c.offered = append(c.offered, &offered[i])
	}
	return err
}

// commit commits it. One whose answer was lost is tried again: the fence then tells that it was done.
func (c *conclusion) commit() error {
	if err := c.tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	c.tellOfOffers(c.offered)
	c.options.Observer.ended(c.run.job, c.as)
	return nil
}

// Ended is the end of a run, or of a check that was not run.
type Ended struct {
	// Job is the check, with the slot in which its run started last.
	Job     prescient.FutureJob
	Outcome prescient.Outcome
	// Reason is the text of the error; empty where all went well.
	Reason string
	// At is by the database's clock.
	At time.Time
	// Agent is the one that wrote the end.
	Agent string
}

// OnEnd is told of ends, in the transaction that writes them, last of all. After an error nothing of that is written, and it is tried again.
//
// It is not told of a check that was cancelled or changed while nobody had its run: that is for who did that to know.
type OnEnd func(ctx context.Context, db prescient.DB, ended []Ended) error

// tell tells of ends.
func (e *exec) tell(ctx context.Context, db prescient.DB, ended ...Ended) error {
	if e.onEnd == nil || len(ended) == 0 {
		return nil
	}
	if err := e.onEnd(ctx, db, ended); err != nil {
		return fmt.Errorf("noting the end of long runs: %w", err)
	}
	return nil
}

// endOf is the end of a check by a verdict; none where that moves it.
func (e *exec) endOf(job prescient.FutureJob, v prescient.Verdict, at time.Time) []Ended {
	if v.Outcome == "" || e.onEnd == nil {
		return nil
	}
	return []Ended{{Job: job, Outcome: v.Outcome, Reason: v.Reason, At: at, Agent: e.options.Name}}
}

// tellOfOffers tells the agents of their pools of runs that were offered.
func (e *exec) tellOfOffers(offered []*known) {
	for _, row := range offered {
		e.claimer.Offered(claimer.Run{Key: row.key, Pool: row.pool, JobExec: e.name, Token: row.token, Until: row.allocatedUntil, Due: row.check.dueAt})
	}
}
