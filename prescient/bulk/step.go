package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client"
	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// step does a deed to the next batch.
type step struct {
	*Bulk
	db   *sqlx.DB
	held *duty.Held
	run  Run
}

// taken is what a step did.
type taken struct {
	keys             []prescient.Key // to which the deed was done
	done             int             // how many it counts
	leftOut, refused int
	after            string // the cursor behind which the pass goes on
	more             bool   // false where the pass is over
}

// do does one step, and says for how long the deed then rests at least.
func (s *step) do(ctx context.Context) (rest time.Duration, err error) {
	switch {
	case s.run.bad != nil:
		if errors.Is(s.run.bad, prescient.ErrInvalid) {
			return 0, s.run.bad
		}
		return 0, fmt.Errorf("%w: %w", prescient.ErrInvalid, s.run.bad)
	case s.run.StoppedAt != nil:
		return 0, s.end(ctx, "")
	case s.run.Deed == Requeue:
		return 0, s.requeue(ctx)
	}
	f := s.run.list(s.run.Cutoff)
	f.After, f.Limit, f.Search = s.run.reached, batch, searched
	rows, err := s.client.Pending(ctx, s.db, f)
	var t taken
	if t.after, t.more, err = client.Cursor(rows, batch, err); err != nil {
		return 0, err
	}
	if t.more && t.after <= s.run.reached {
		return 0, fmt.Errorf("%w: a check in the slot of %s has a job_key that is not its own", prescient.ErrInvalid, t.after)
	}
	if rows, err = s.toDo(ctx, rows, &t); err != nil {
		return 0, err
	}
	take := func() error {
		return s.inTx(ctx, func(tx *sqlx.Tx) error {
			t.done, t.leftOut, t.keys = 0, 0, t.keys[:0]
			if err := s.take(ctx, tx, rows, &t); err != nil {
				return err
			}
			return s.note(ctx, tx, t)
		})
	}
	if err = take(); errno.RefusesRow(err) {
		if rows, err = s.withoutRefused(ctx, rows, &t); err == nil {
			err = take()
		}
	}
	if err != nil || t.more {
		return 0, err
	}
	return s.turn(ctx, s.inPass(s.run.LeftOut)+uint64(t.leftOut))
}

// errTried rolls back what was only tried.
var errTried = errors.New("it was tried")

// withoutRefused leaves out rows that the server does not write again, each by itself, and counts them as refused: plain SQL may have written anything.
func (s *step) withoutRefused(ctx context.Context, rows []prescient.FutureJob, t *taken) (left []prescient.FutureJob, err error) {
	for _, row := range rows {
		err := s.inTx(ctx, func(tx *sqlx.Tx) error {
			if err := s.take(ctx, tx, []prescient.FutureJob{row}, new(taken)); err != nil {
				return err
			}
			return errTried
		})
		switch {
		case errors.Is(err, errTried):
			left = append(left, row)
		case errno.RefusesRow(err):
			t.refused++
		default:
			return nil, err
		}
	}
	return left, nil
}

// turn begins another pass where some were left out, or ends the deed.
func (s *step) turn(ctx context.Context, leftOut uint64) (rest time.Duration, err error) {
	if leftOut == 0 || s.run.Pass >= MaxPasses {
		return 0, s.end(ctx, "")
	}
	err = s.inTx(ctx, func(tx *sqlx.Tx) error {
		_, err := store.Affected(ctx, tx, s.tables.Stmt.Get("bulk/step"), s.run.Pass+1, "", 0, 0, 0, s.run.Number)
		return err
	})
	return betweenPasses * time.Duration(s.run.Pass), err
}

// inPass is how many this pass has counted before. A pass that has no cursor begins: its process died behind its last step.
func (s *step) inPass(counted uint64) uint64 {
	if s.run.reached == "" {
		return 0
	}
	return counted
}

// due is when checks are to be due.
func (s *step) due() time.Time {
	if s.run.DueAt != nil {
		return *s.run.DueAt
	}
	return *s.run.StartedAt
}

// toDo leaves out rows to which the deed was done already, and that match again: they came back by themselves, or somebody moved them since.
// Those that cannot be done it counts as refused.
func (s *step) toDo(ctx context.Context, rows []prescient.FutureJob, t *taken) (left []prescient.FutureJob, err error) {
	keys := make([]prescient.Key, len(rows))
	for i, row := range rows {
		keys[i] = s.keyOf(row)
	}
	noted, err := s.rows.Noted(ctx, s.db, s.run.Number, keys)
	if err != nil {
		return nil, err
	}
	now, err := s.client.Now(ctx, s.db)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		switch {
		case noted[keys[i]]:
		case prescient.ValidCheck(row.Entity(), row.JobExec, row.Tag) != nil, s.isBeyond(row, now):
			t.refused++
		default:
			left = append(left, row)
		}
	}
	return left, nil
}

// keyOf is what is noted of a row: itself, or its job_exec where that is what the deed is done to.
func (s *step) keyOf(row prescient.FutureJob) prescient.Key {
	if s.run.Deed == Pause {
		return prescient.KeyOf(prescient.Entity{Name: "job_exec", Key: row.JobExec}, row.JobExec, "")
	}
	return row.Key()
}

// isBeyond says of a row that is to be moved that its job_exec's horizon does not let it.
func (s *step) isBeyond(row prescient.FutureJob, now time.Time) bool {
	if s.run.Deed != Reschedule && s.run.SpreadMS == 0 {
		return false
	}
	_, _, err := s.rows.Place(row.JobExec, s.run.dueOf(row, s.due()), now)
	return err != nil
}

// take does the deed to rows, those of them that nobody has locked or changed.
func (s *step) take(ctx context.Context, tx *sqlx.Tx, rows []prescient.FutureJob, t *taken) error {
	if s.run.Deed == Pause {
		return s.pause(ctx, tx, rows, t)
	}
	locked, err := s.rows.Lock(ctx, tx, rows)
	if err != nil {
		return err
	}
	t.leftOut, t.done = len(rows)-len(locked), len(locked)
	for _, row := range locked {
		t.keys = append(t.keys, s.keyOf(row))
	}
	switch {
	case len(locked) == 0:
		return nil
	case s.run.Deed == Cancel:
		return s.rows.End(ctx, tx, locked)
	case s.run.Deed == Reschedule, s.run.Deed == Retry:
		return s.rows.Move(ctx, tx, locked, func(row prescient.FutureJob) time.Time { return s.run.dueOf(row, s.due()) })
	}
	return fmt.Errorf("%w: deed %.40q", prescient.ErrInvalid, s.run.Deed)
}

// pause pauses the job_execs of rows, each once: somebody may have resumed one since.
func (s *step) pause(ctx context.Context, tx *sqlx.Tx, rows []prescient.FutureJob, t *taken) error {
	is := make(map[string]bool)
	for _, row := range rows {
		if is[row.JobExec] {
			continue
		}
		is[row.JobExec] = true
		if err := s.client.Pause(ctx, tx, prescient.Paused{JobExec: row.JobExec, By: s.run.Person, Reason: s.run.Reason}); err != nil {
			return err
		}
		t.keys, t.done = append(t.keys, s.keyOf(row)), t.done+1
	}
	return nil
}

// requeue makes the next ends pending again.
func (s *step) requeue(ctx context.Context) error {
	now, err := s.client.Now(ctx, s.db)
	if err != nil {
		return err
	}
	f := s.run.list(s.run.Cutoff)
	f.After, f.Limit, f.Search = s.run.reached, requeueBatch, searched
	page, err := s.client.History(ctx, s.db, f)
	var t taken
	if t.after, t.more, err = client.Cursor(page, requeueBatch, err); err != nil {
		return err
	}
	if t.more && s.run.reached != "" && t.after >= s.run.reached {
		return fmt.Errorf("%w: an end at %s has a job_key that is not its own", prescient.ErrInvalid, t.after)
	}
	noted, err := s.rows.Noted(ctx, s.db, s.run.Number, keysOf(page))
	if err != nil {
		return err
	}
	page = slices.DeleteFunc(page, func(e client.Ended) bool { return noted[e.Key()] }) // earlier ends of those that are pending again
	_, err = s.rows.Requeue(ctx, s.db, page, s.due(), s.run.Spread(), now, func(ctx context.Context, tx prescient.DB, jobs []client.RequeuedJob) error {
		if err := s.held.Fence(ctx, tx); err != nil {
			return err
		}
		did := make(map[prescient.Key]bool)
		for _, job := range jobs {
			key := prescient.KeyOf(prescient.Entity{Name: job.EntityName, Key: job.EntityKey}, job.JobExec, job.Tag)
			did[key] = did[key] || job.Did == client.DidRequeue
		}
		t.keys = nil
		for key, is := range did {
			if is {
				t.keys = append(t.keys, key)
			}
		}
		t.done, t.refused = len(t.keys), len(did)-len(t.keys)
		return s.note(ctx, tx, t)
	})
	if err != nil || t.more {
		return err
	}
	return s.end(ctx, "")
}

func keysOf(page []client.Ended) []prescient.Key {
	keys := make([]prescient.Key, len(page))
	for i, end := range page {
		keys[i] = end.Key()
	}
	return keys
}

// inTx runs do in a transaction in which nobody else works on the deed.
func (s *step) inTx(ctx context.Context, do func(tx *sqlx.Tx) error) error {
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer tx.Rollback() // after a commit it does nothing
	if err := s.held.Fence(ctx, tx); err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// errStopped rolls a step back that somebody stopped in between.
var errStopped = errors.New("it was stopped")

// note writes what a step did, in its transaction.
func (s *step) note(ctx context.Context, tx prescient.DB, t taken) error {
	if len(t.keys) > 0 {
		rows := literal.Join(", ", func(b []byte, key prescient.Key) []byte {
			b = literal.AppendUint(append(b, '('), s.run.Number)
			return append(literal.AppendKey(append(b, ", "...), key), ')')
		}, t.keys)
		if _, err := tx.ExecContext(ctx, s.tables.Fill("bulk/checks", "{rows}", rows)); err != nil {
			return fmt.Errorf("noting the checks: %w", err)
		}
	}
	n, err := store.Affected(ctx, tx, s.tables.Stmt.Get("bulk/step"), s.run.Pass, t.after, t.done, s.inPass(s.run.LeftOut)+uint64(t.leftOut), s.inPass(s.run.Refused)+uint64(t.refused), s.run.Number)
	if err != nil {
		return fmt.Errorf("noting the step: %w", err)
	}
	if n == 0 {
		return errStopped
	}
	return nil
}

// end ends the deed, with its entry in the audit.
func (s *step) end(ctx context.Context, why string) error {
	return s.inTx(ctx, func(tx *sqlx.Tx) error {
		n, err := store.Affected(ctx, tx, s.tables.Stmt.Get("bulk/end"), clip(why), s.run.Number)
		if err != nil || n == 0 {
			return err
		}
		run, err := s.Get(ctx, tx, s.run.Number)
		if err != nil {
			return err
		}
		return s.audit.Record(ctx, tx, audit.Entry{Kind: audit.Bulk, ID: strconv.FormatUint(run.Number, 10), Verb: string(run.Deed), After: run})
	})
}

// clip cuts a text to what the column holds.
func clip(text string) string {
	return prescient.Shorten(strings.ToValidUTF8(text, "?"), 1000)
}
