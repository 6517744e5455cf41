package longrun

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/internal/claimer"
)

// claim is a run that was claimed, and is to be started.
type claim = claimer.Claim

// errAnother is that of a run whose check is gone: another of its key may be there, whose time has not come.
var errAnother = errors.New("the run is that of another check")

// startClaimed starts a run that was claimed, in a transaction which locks the check first and proves the token, or writes what becomes
// of it otherwise. It says whether it is called now.
func (r *Runner) startClaimed(c claim) (runs bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), r.send.Timeout)
	defer cancel()
	before := time.Now()
	job, err := r.claimedCheck(ctx, c.Key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, r.endGone(c)
	case err != nil:
		return false, err
	case len(job.Payload) == 0 && job.Payload != nil:
		return false, fmt.Errorf("%w: the payload of %s is too long to be read", prescient.ErrInvalid, job.Entity())
	}
	r.mu.Lock()
	e := r.execs[job.JobExec]
	r.mu.Unlock()
	if e == nil {
		return false, fmt.Errorf("%w: job_exec %q is not one for long runs here", prescient.ErrInvalid, job.JobExec)
	}
	m := &meeting{exec: e, jobs: []prescient.FutureJob{job}, before: before, places: 1, claim: &c}
	switch found, err := e.startAlone(ctx, m); {
	case errors.Is(err, errAnother), err == nil && found == checkGone:
		return false, r.endGone(c)
	case err == nil && found == checkPaused:
		return false, r.giveBack(c, r.options.Lease)
	case err != nil:
		return false, err
	}
	return len(m.started) > 0, nil
}

// claimedCheck reads the check of a run. Its slot is that in which it was met.
func (r *Runner) claimedCheck(ctx context.Context, key prescient.Key) (job prescient.FutureJob, err error) {
	var payload []byte
	var expires sql.NullTime
	err = r.send.DB.QueryRowContext(ctx, r.tables.Stmt.Get("longrun/claimed"), key[:]).Scan(&job.NextCheckAt, &job.EntityName, &job.EntityKey, &job.JobExec, &job.Tag,
		&job.DueAt, &job.FirstCheckAt, &job.CheckCount, &job.ErrorCount, &job.PutOffCount, &job.LastError, &job.TotalMS, &payload, &job.Revision,
		&job.InsertedAt, &expires)
	if err != nil {
		return job, fmt.Errorf("reading the check of a long run: %w", err)
	}
	job.Payload = payload
	if expires.Valid {
		job.ExpiresAt = prescient.At(expires.Time)
	}
	return job, nil
}

// asItWas has the run that was claimed look as it did before that, for the rules. It is there, locked, and this agent's; else ErrLost.
func (m *meeting) asItWas() error {
	run := m.runs[m.claim.Key]
	switch {
	case run == nil || run.token != m.claim.Token || !run.offered():
		return ErrLost
	case run.check != identityOf(m.jobs[0]):
		return errAnother
	}
	run.agent, run.allocatedUntil, run.lives = m.claim.Agent, m.claim.Until, false
	return nil
}

// endGone ends a run that was claimed, and whose check is gone.
func (r *Runner) endGone(c claim) error {
	cancelled := string(prescient.Cancelled)
	return r.release(c, nil, &cancelled)
}

// giveBack gives a run back that was claimed: nobody claims it before a while is over.
func (r *Runner) giveBack(c claim, after time.Duration) error {
	seconds := int64(after / time.Second)
	return r.release(c, &seconds, nil)
}

func (r *Runner) release(c claim, seconds *int64, outcome *string) error {
	takeovers := 0
	if c.Agent != "" {
		takeovers = 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.send.Timeout)
	defer cancel()
	if _, err := store.Affected(ctx, r.send.DB, r.tables.Stmt.Get("longrun/give_back"), takeovers, seconds, outcome, outcome, c.Key[:], c.Token); err != nil {
		return fmt.Errorf("giving a long run back: %w", err)
	}
	return nil
}
