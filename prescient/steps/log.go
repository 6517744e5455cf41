package steps

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/longrun"
	"prescient/prescient/output"
)

// jobOf is the name of the job that a check is the run of.
func jobOf(check prescient.FutureJob) (name string, is bool) {
	name, is = strings.CutPrefix(check.EntityKey, reserved.JobPrefix)
	return name, is && check.EntityName == prescient.ScheduleEntity && check.Tag != ""
}

// scheduledAt is when an occurrence was due, whatever its steps have asked for since. A tag that says no time of the tables only plain SQL
// has written.
func scheduledAt(check prescient.FutureJob) time.Time {
	second, err := strconv.ParseInt(strings.TrimPrefix(check.Tag, "m"), 10, 64)
	at := time.Unix(second, 0).UTC()
	if err != nil || at.Before(prescient.EarliestDue) || at.After(prescient.LatestSlot) {
		return check.DueAt
	}
	return at
}

// log sends a statement of the log, in the transaction that saves the checkpoint.
func (w *walk) log(ctx context.Context, tx *sqlx.Tx, statement string, args ...any) error {
	if _, err := tx.ExecContext(ctx, w.tables.Stmt.Get(statement), args...); err != nil {
		return fmt.Errorf("logging a run of job %q: %w", w.name, err)
	}
	return nil
}

// logBegin logs that the run begins.
func (w *walk) logBegin(ctx context.Context, tx *sqlx.Tx) error {
	check := w.long.Job()
	key := check.Key()
	return w.log(ctx, tx, "steps/begin", w.name, check.Tag, key[:], w.state.Version, scheduledAt(check), w.long.StartedAt(), w.long.Agent(), w.long.Takeovers())
}

// logGoOn logs that this agent goes on with the run; and that a call came to no answer.
func (w *walk) logGoOn(ctx context.Context, tx *sqlx.Tx, called bool) error {
	if err := w.log(ctx, tx, "steps/go_on", w.long.Agent(), w.long.Takeovers(), w.name, w.state.Occurrence); err != nil || !called {
		return err
	}
	return w.log(ctx, tx, "steps/lost", ResultCrashed, "its agent died, lost the run, or could not write the answer", w.name, w.state.Occurrence)
}

// logCall logs that a step is called.
func (w *walk) logCall(ctx context.Context, tx *sqlx.Tx, step Step) error {
	return w.log(ctx, tx, "steps/call", w.name, w.state.Occurrence, w.state.Seq, w.state.Step+1, step.Name, step.JobExec, w.state.Failures+1, w.state.At, w.long.Agent())
}

// logAnswer logs what became of a call.
func (w *walk) logAnswer(ctx context.Context, tx *sqlx.Tx, o outcome, to *output.Tail) error {
	said, cut := to.Text()
	return w.log(ctx, tx, "steps/answer", o.result, orNull(o.reason), orNull(said), cut, w.name, w.state.Occurrence, w.state.Seq)
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// noteEnds logs the ends of runs, in the transactions that write them.
func (j *Jobs) noteEnds(ctx context.Context, db prescient.DB, ended []longrun.Ended) error {
	for _, e := range ended {
		name, is := jobOf(e.Job)
		if !is {
			continue
		}
		key := e.Job.Key()
		if _, err := db.ExecContext(ctx, j.tables.Stmt.Get("steps/end"), name, e.Job.Tag, key[:], scheduledAt(e.Job), e.At, e.Agent, string(e.Outcome), orNull(e.Reason)); err != nil {
			return fmt.Errorf("logging the end of job %q: %w", name, err)
		}
		if e.Outcome == prescient.Done {
			continue
		}
		if _, err := db.ExecContext(ctx, j.tables.Stmt.Get("steps/lost"), string(e.Outcome), orNull(e.Reason), name, e.Job.Tag); err != nil {
			return fmt.Errorf("logging the end of job %q: %w", name, err)
		}
	}
	return nil
}
