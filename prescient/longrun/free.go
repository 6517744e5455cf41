package longrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/internal/tally"
	"prescient/prescient/longrun/internal/ahead"
	"prescient/prescient/longrun/internal/check"
	"prescient/prescient/longrun/internal/claimer"
)

// Claim implements claimer.Caller. What somebody else's locks are in the way of is tried again for a moment, what else passes for half a lease;
// then it is put off.
func (by caller) Claim(some []claimer.Claim) []claimer.Became {
	became := make(map[prescient.Key]claimer.Became, len(some))
	began, wait := time.Now(), store.NewBackOff()
	for left := some; ; {
		failed := by.r.claimFree(left, became)
		took := time.Since(began)
		var again, contestedLong, failedLong []claimer.Claim
		for _, c := range left {
			switch err := failed[c.Key]; {
			case err == nil:
			case contested(err) && took >= contestedFor:
				contestedLong = append(contestedLong, c)
			case took >= by.r.options.Lease/2 || !contested(err) && !errno.Passing(err):
				by.r.options.Log.Warn().Err(err).Str("pool", c.Pool).Msg("a long run could not be started; it is put off")
				failedLong = append(failedLong, c)
			default:
				again = append(again, c)
			}
		}
		by.r.putOff(contestedLong, contestedWait, became)
		by.r.putOff(failedLong, by.r.options.Lease, became)
		if left = again; len(left) == 0 {
			break
		}
		time.Sleep(wait.NextBackOff())
	}
	all := make([]claimer.Became, len(some))
	for i, c := range some {
		all[i] = became[c.Key]
	}
	return all
}

// claimFree claims runs, those of a job_exec and a pool in one transaction. It says what became of each, or why one is to be tried again.
func (r *Runner) claimFree(some []claimer.Claim, became map[prescient.Key]claimer.Became) (failed map[prescient.Key]error) {
	failed = make(map[prescient.Key]error)
	ctx, cancel := context.WithTimeout(store.Vital(context.Background()), r.send.Timeout)
	defer cancel()
	before := time.Now()
	checks, err := r.freeChecks(ctx, some)
	if err != nil {
		for _, c := range some {
			failed[c.Key] = err
		}
		return failed
	}
	var gone, kept, off []claimer.Claim
	groups := make(map[[2]string]*claims)
	for _, c := range some {
		found, is := checks[c.Key]
		if !is {
			gone = append(gone, c)
			continue
		}
		e, err := r.callable(found.job)
		switch {
		case prescient.IsKept(found.job): // whoever runs its slot tries to end it
			kept = append(kept, c)
		case err != nil:
			failed[c.Key] = err
		case found.paused:
			off = append(off, c)
		default:
			of := [2]string{c.Pool, found.job.JobExec}
			if groups[of] == nil {
				groups[of] = &claims{exec: e, before: before}
			}
			groups[of].add(found.job, freeRun{c, found.slot})
		}
	}
	for _, m := range groups {
		gone = append(gone, m.claimApart(ctx, became, failed)...)
	}
	r.putOff(off, r.options.Lease, became)
	r.endFree(kept, prescient.Failed, became)
	r.endFree(gone, prescient.Cancelled, became)
	return failed
}

func (m *claims) add(job prescient.FutureJob, run freeRun) {
	m.jobs, m.free = append(m.jobs, job), append(m.free, run)
}

// part are some of them, to be claimed by themselves.
func (m *claims) part(from, to int) *claims {
	return &claims{exec: m.exec, before: m.before, jobs: m.jobs[from:to], free: m.free[from:to]}
}

// claimApart claims runs in a transaction, and in several where one of them is in the way of the others. It returns those whose checks are gone.
func (m *claims) claimApart(ctx context.Context, became map[prescient.Key]claimer.Became, failed map[prescient.Key]error) (gone []claimer.Claim) {
	err := m.commit(ctx, failed)
	switch {
	case err == nil:
		for i, c := range m.free {
			switch {
			case m.passed[i] == nil:
				became[c.Key] = claimer.Settled
			case errors.Is(m.passed[i], errAnother):
				gone = append(gone, c.Claim)
			case errors.Is(m.passed[i], errContested):
				failed[c.Key] = m.passed[i]
			}
		}
		for _, run := range m.started {
			became[run.row.key] = claimer.Started
		}
		for _, key := range m.soon { // to be looked at again
			became[key] = claimer.Missed
		}
	case len(m.jobs) > 1 && (contested(err) || !errno.Passing(err)):
		half := len(m.jobs) / 2
		gone = append(m.part(0, half).claimApart(ctx, became, failed), m.part(half, len(m.jobs)).claimApart(ctx, became, failed)...)
	case errno.KeepsRow(err) && m.kept == nil:
		again := m.part(0, 1)
		again.kept = err
		gone = again.claimApart(ctx, became, failed)
		if job := m.jobs[0]; became[job.Key()] == claimer.Settled {
			m.options.Log.Error().Err(err).Str("job_exec", job.JobExec).Stringer("entity", job.Entity()).Str("tag", job.Tag).
				Msg("a long run cannot be ended; its check is put off, and not called any more")
		}
	default:
		for _, c := range m.free {
			failed[c.Key] = err
		}
	}
	return gone
}

// commit claims runs in a transaction of its own, which locks their checks first. Those that somebody else has locked or changed are left out.
func (m *claims) commit(ctx context.Context, failed map[prescient.Key]error) error {
	tx, err := m.send.DB.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing once it is committed
	if err := m.lockChecks(ctx, tx, failed); err != nil || len(m.jobs) == 0 {
		return err
	}
	if m.terms, m.now, err = m.exec.terms(ctx, tx, m.jobs); err != nil {
		return err
	}
	answers, err := m.claim(ctx, tx)
	if err != nil {
		return err
	}
	if err := m.moveStarted(ctx, tx); err != nil {
		return err
	}
	ended := make([]prescient.Outcome, len(m.jobs))
	for i, job := range m.jobs {
		if m.passed[i] != nil || m.startedOf(job.Key()) != nil {
			continue
		}
		p := check.Locked(tx.Tx, &m.tables, m.options.Name, job, m.free[i].slot, m.now)
		v := prescient.Decide(m.tables.Grid, prescient.Guards{Endless: true}, job, answers[i], m.now)
		if v.Outcome != "" && m.kept != nil {
			v = prescient.Decide(m.tables.Grid, prescient.Guards{Endless: true}, job, prescient.Answer{Cause: prescient.CauseRefused, Err: m.kept}, m.now)
		}
		if ended[i] = v.Outcome; v.Outcome == "" {
			err = p.Move(ctx, job, v)
		} else if err = p.End(ctx, job, v, nil, 0); err == nil {
			err = tally.Add(ctx, tx.Tx, &m.tables, tally.Noted{Job: &job, Cause: answers[i].Cause, Ended: m.now, Verdict: &v})
		}
		if err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err // what was committed all the same lapses, and is taken over
	}
	for i, job := range m.jobs {
		m.options.Observer.ended(job, ended[i])
		if late := m.now.Sub(m.tables.Grid.Ceil(job.DueAt)); answers[i].Began && m.guards.SLA > 0 && late > m.guards.SLA {
			// No slot run counts it.
			m.options.Log.Warn().Str("job_exec", job.JobExec).Stringer("entity", job.Entity()).Str("tag", job.Tag).Dur("late", late).
				Msg("a long run starts later than its SLA: it waited for a place, or for the run before it")
		}
	}
	m.launch(m.started)
	m.tellOfOffers(m.offered)
	return nil
}

// moveStarted moves the checks of runs that start to where they wait: those together that go the same way, which is one mostly.
func (m *claims) moveStarted(ctx context.Context, tx *sqlx.Tx) error {
	type way struct{ from, to time.Time }
	var ways []way
	keys := make(map[way][]prescient.Key)
	for i, job := range m.jobs {
		if run := m.startedOf(job.Key()); run != nil {
			w := way{m.free[i].slot, run.at.Slot}
			if keys[w] == nil {
				ways = append(ways, w)
			}
			keys[w] = append(keys[w], job.Key())
		}
	}
	for _, w := range ways {
		n, err := store.Affected(ctx, tx, ahead.Statement(&m.tables, keys[w], w.from, w.to))
		if err == nil && n != len(keys[w]) {
			err = fmt.Errorf("%d of %d were moved", n, len(keys[w]))
		}
		if err != nil {
			return fmt.Errorf("moving the checks of long runs: %w", err)
		}
	}
	return nil
}

// lockChecks locks the checks that are as they were read, and leaves out the others.
func (m *claims) lockChecks(ctx context.Context, tx *sqlx.Tx, failed map[prescient.Key]error) error {
	bySlot := make(map[time.Time][]prescient.Key) // one mostly: runs that were offered together wait together
	revisions := make(map[prescient.Key]uint64, len(m.jobs))
	for i, job := range m.jobs {
		bySlot[m.free[i].slot] = append(bySlot[m.free[i].slot], m.free[i].Key)
		revisions[m.free[i].Key] = job.Revision
	}
	locked := make(map[prescient.Key]bool, len(m.jobs))
	for _, slot := range slices.SortedFunc(maps.Keys(bySlot), time.Time.Compare) {
		lock := m.tables.Fill("slotrun/lock_free", "{keys}", literal.KeysOf(bySlot[slot]))
		err := store.EachRevision(ctx, tx, lock, []any{slot}, func(key prescient.Key, revision uint64) {
			locked[key] = revisions[key] == revision
		})
		if err != nil {
			return fmt.Errorf("locking the checks of long runs: %w", err)
		}
	}
	jobs, free := m.jobs, m.free
	m.jobs, m.free = nil, nil
	for i, job := range jobs {
		if run := free[i]; locked[run.Key] {
			m.add(job, run)
		} else {
			failed[run.Key] = errContested
		}
	}
	return nil
}

// callable returns the function of a check that is to be called.
func (r *Runner) callable(job prescient.FutureJob) (*exec, error) {
	if len(job.Payload) == 0 && job.Payload != nil {
		return nil, fmt.Errorf("%w: the payload of %s is too long to be read", prescient.ErrInvalid, job.Entity())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.execs[job.JobExec]
	if e == nil {
		return nil, fmt.Errorf("%w: job_exec %q is not one for long runs here", prescient.ErrInvalid, job.JobExec)
	}
	return e, nil
}

// freeCheck is the check of a run that is to be claimed.
type freeCheck struct {
	job    prescient.FutureJob // its NextCheckAt is the slot in which it was met
	slot   time.Time           // for which it waits
	paused bool                // its job_exec is
}

// freeChecks reads the checks of runs. Those that are gone are not among them.
func (r *Runner) freeChecks(ctx context.Context, some []claimer.Claim) (map[prescient.Key]freeCheck, error) {
	keys := make([]prescient.Key, len(some))
	for i, c := range some {
		keys[i] = c.Key
	}
	checks := make(map[prescient.Key]freeCheck)
	for len(keys) > 0 {
		var rows []freeCheck
		asked, err := store.Answered(len(keys), func(n, longest int) (err error) {
			query := r.tables.Fill("longrun/checks", "{keys}", literal.KeysOf(keys[:n]))
			rows, err = store.Rows(ctx, r.send.DB, "reading the checks of long runs", query, (*freeCheck).into, prescient.AllExecs, longest)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			checks[row.job.Key()] = row
		}
		keys = keys[asked:]
	}
	return checks, nil
}

// into is where the columns of a row go.
func (c *freeCheck) into() []any {
	job := &c.job
	return []any{&job.CalledAt, &c.slot, &c.paused, &job.NextCheckAt, &job.EntityName, &job.EntityKey, &job.JobExec, &job.Tag, &job.DueAt, &job.FirstCheckAt,
		&job.CheckCount, &job.ErrorCount, &job.PutOffCount, &job.LastError, &job.TotalMS, (*[]byte)(&job.Payload), &job.Revision, &job.InsertedAt, &job.ExpiresAt, store.Trace(&job.Trace), store.OrZero(&job.RuleVersion), &job.OccasionAt}
}

// putOff has nobody claim runs for a while.
func (r *Runner) putOff(some []claimer.Claim, awhile time.Duration, became map[prescient.Key]claimer.Became) {
	r.changeFree(some, became, "longrun/put_off", awhile.Microseconds())
}

// endFree ends runs whose checks are gone, or are not called any more.
func (r *Runner) endFree(some []claimer.Claim, outcome prescient.Outcome, became map[prescient.Key]claimer.Became) {
	r.changeFree(some, became, "longrun/end_free", string(outcome))
}

// changeFree changes runs that are as a look has shown them. What comes of it the next look shows.
func (r *Runner) changeFree(some []claimer.Claim, became map[prescient.Key]claimer.Became, update string, arg any) {
	if len(some) == 0 {
		return
	}
	runs := make([]ahead.Run, len(some))
	for i, c := range some {
		seen := literal.AppendUint(append(literal.AppendKey([]byte("job_key = "), c.Key), " AND token = "...), c.Token)
		runs[i] = ahead.Run{Key: c.Key, Condition: string(literal.AppendText(append(seen, " AND agent = "...), c.Agent))}
		became[c.Key] = claimer.Settled
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.send.Timeout)
	defer cancel()
	if _, _, err := ahead.Change(ctx, r.send.DB, &r.tables, runs, update, arg); err != nil {
		r.options.Log.Warn().Err(err).Int("runs", len(some)).Msg("long runs could not be put off; they are looked at again")
	}
}
