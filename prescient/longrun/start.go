package longrun

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/lease"
	"prescient/prescient/internal/literal"
	"prescient/prescient/longrun/internal/check"
	"prescient/slots"
)

// meet is what a slot run calls for checks of long runs that are due: it starts those that may start, in the transaction that moves
// their checks on.
func (e *exec) meet(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) error {
	if e.Runner == nil {
		return fmt.Errorf("%w: job_exec %q was registered without a runner of long runs, which cannot call it", prescient.ErrInvalid, batch.Jobs()[0].JobExec)
	}
	jobs := batch.Jobs()
	terms, now, err := e.terms(ctx, tx, jobs)
	if err != nil {
		return err
	}
	m := &meeting{exec: e, jobs: jobs, terms: terms, now: now, before: time.Now()}
	m.places = e.reserve("", m.unpooled())
	batch.AfterTx(func(committed bool) {
		if committed {
			e.launch(m.started)
			e.tellOfOffers(m.offered)
		}
		e.unreserve("", m.places) // runs that have started have theirs by now
		if committed && e.wait(m.waiting...) {
			go e.resume("")
		}
	})
	answers, err := m.run(ctx, tx)
	if err != nil {
		return err
	}
	for i, a := range answers {
		batch.Give(i, a)
	}
	return nil
}

// meeting is a slot run that meets checks of long runs.
type meeting struct {
	*exec
	jobs   []prescient.FutureJob
	terms  []Terms
	now    time.Time // by the database's clock
	before time.Time // here, before the first lease was asked for
	places int       // that are kept for runs which start
	claims []claim   // of the checks; nil for what a slot run met
	kept   error     // why the server refuses to end the check, which is put off; nil for not

	runs    map[prescient.Key]*known // by their own keys
	of      map[string][]*known      // those of a schedule that did not end
	ended   map[string][]*known      // those that did
	locked  map[prescient.Key]bool   // all that were read, which are locked for this
	started []*Run
	rows    []byte          // of longrun/start
	forget  []prescient.Key // runs that ended, before the next of their schedules
	starts  []string        // schedules of which a run started
	offered []*known
	waiting []waiting
	ends    []Ended
}

// run decides about the checks, and writes what becomes of their runs. It answers for each check.
func (m *meeting) run(ctx context.Context, tx *sqlx.Tx) ([]prescient.Answer, error) {
	if err := m.read(ctx, tx); err != nil {
		return nil, err
	}
	answers := make([]prescient.Answer, len(m.jobs))
	// The earliest occurrence of a schedule first.
	var order []int
	for i := range m.jobs {
		if m.terms[i].Contested {
			answers[i] = prescient.Answer{Cause: prescient.CauseContested}
		} else {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return m.jobs[i].DueAt.Compare(m.jobs[j].DueAt) })
	for _, i := range order {
		answers[i] = m.rule(i)
	}
	return answers, m.write(ctx, tx)
}

// rule decides about a check, and takes note of what is to be written.
func (m *meeting) rule(i int) prescient.Answer {
	job, terms := m.jobs[i], m.terms[i]
	key := job.Key()
	met := met{job: job, guards: m.guards, terms: terms, run: m.runs[key], others: m.of[terms.Schedule], room: len(m.started) < m.places, elsewhere: m.poolOf(terms) != m.claimsOf(), claimed: m.claimed(), now: m.now}
	r := decide(m.tables.Grid, met)
	row := met.run
	if row == nil {
		row = &known{key: key, schedule: terms.Schedule, pending: true}
	}
	switch {
	case r.starts:
		return m.start(job, terms, row, r)
	case r.offers:
		return m.offer(job, terms, row, r)
	case r.soon:
		m.putOff(job, row, time.Second)
	case r.waits, m.claimed() && r.behind != nil && row.startedAt.IsZero():
		*row = known{key: key, schedule: terms.Schedule, pending: true, pool: m.poolOf(terms), token: row.token, check: identityOf(job)}
		m.keep(row)
		m.rows = row.appendTo(m.rows, job)
	case r.answer.Cause != prescient.CauseWaits && met.run != nil && met.run.endedAt.IsZero():
		row.endedAt, row.outcome, row.allocatedUntil, row.lives = m.now, prescient.Decide(m.tables.Grid, m.guards, job, r.answer, m.now).Outcome, time.Time{}, false
		m.rows = row.appendTo(m.rows, job)
		if row.schedule != "" { // the next of its schedule may start in this very transaction
			m.ended[row.schedule] = append(m.ended[row.schedule], row)
		}
	case m.claimed():
		m.putOff(job, row, m.options.Lease)
	}
	if r.answer.Cause == prescient.CauseWaits && r.answer.Next == nil && m.poolOf(terms) == "" {
		w := waiting{start: m.exec.claim, job: job}
		if r.behind != nil {
			w.behind, w.other, w.ours = terms.Schedule, r.behind.key, r.behind.agent == m.options.Name
		}
		m.waiting = append(m.waiting, w)
	}
	if r.answer.Cause != prescient.CauseWaits {
		m.ends = append(m.ends, m.endOf(job, prescient.Decide(m.tables.Grid, m.guards, job, r.answer, m.now), m.now)...)
	}
	if r.answer.Err != nil {
		m.options.Log.Warn().Err(r.answer.Err).Str("job_exec", job.JobExec).Stringer("entity", job.Entity()).Str("tag", job.Tag).Msg("a long run is not started")
	}
	return r.answer
}

// start makes a run this agent's.
func (m *meeting) start(job prescient.FutureJob, terms Terms, row *known, r ruling) prescient.Answer {
	if r.takesOver {
		m.options.Log.Warn().Str("job_exec", job.JobExec).Stringer("entity", job.Entity()).Str("tag", job.Tag).Str("agent", row.agent).
			Msg("a long run is taken over")
	}
	if r.afresh {
		checkpoint := m.checkpointFor(terms)
		if m.guards.Endless && terms.Schedule == "" { // it goes on where the run before it was, unless that was done
			checkpoint = row.checkpoint
		}
		*row = known{key: row.key, schedule: terms.Schedule, pending: true, token: row.token, startedAt: m.now, checkpoint: checkpoint}
		if terms.Schedule != "" {
			m.starts = append(m.starts, terms.Schedule)
			m.startsOf(terms.Schedule)
		}
	} else if r.takesOver {
		row.takeovers++
	}
	row.pool, row.calledAt = m.poolOf(terms), m.now
	row.agent, row.token, row.lives = m.options.Name, row.token+lease.Step(), true
	row.check, row.allocatedUntil = identityOf(job), m.now.Add(m.options.Lease)
	m.keep(row)
	m.rows = row.appendTo(m.rows, job)
	run := m.newRun(job, terms, row)
	m.started = append(m.started, run)
	a := waitUntil(row.allocatedUntil).answer
	if r.afresh {
		a.Began = true
	}
	return a
}

// startsOf lets later occurrences of the same batch know of a start.
func (m *meeting) startsOf(schedule string) {
	for i := range m.terms {
		if m.terms[i].Schedule == schedule {
			m.terms[i].LastStart = m.now
		}
	}
}

// keep has a run stand among those of its schedule.
func (m *meeting) keep(row *known) {
	m.runs[row.key] = row
	if row.schedule != "" && !slices.Contains(m.of[row.schedule], row) {
		m.of[row.schedule] = append(m.of[row.schedule], row)
	}
}

// checkpointFor is where the first call of a run goes on: at the checkpoint of the run before it, unless that was done. One that waited,
// and ended without a start, had none. All that ended are forgotten then, but for what ends in this transaction, which is written later.
func (m *meeting) checkpointFor(terms Terms) (checkpoint []byte) {
	if terms.Schedule == "" {
		return nil
	}
	var last *known
	for _, run := range m.ended[terms.Schedule] {
		m.forget = append(m.forget, run.key)
		if !run.startedAt.IsZero() && (last == nil || run.endedAt.After(last.endedAt)) {
			last = run
		}
	}
	delete(m.ended, terms.Schedule)
	if last != nil && last.outcome != prescient.Done {
		checkpoint = last.checkpoint
	}
	return checkpoint
}

// terms asks the rules, where there are some.
func (e *exec) terms(ctx context.Context, tx *sqlx.Tx, jobs []prescient.FutureJob) ([]Terms, time.Time, error) {
	slot := jobs[0].NextCheckAt // what a clock tells may be a moment behind
	for _, job := range jobs {
		slot = slots.Later(slot, job.NextCheckAt)
	}
	terms := make([]Terms, len(jobs))
	var of []prescient.FutureJob
	var at []int
	for i, job := range jobs {
		if job.EntityName == prescient.ScheduleEntity && e.options.Rules != nil {
			of, at = append(of, job), append(at, i)
		}
	}
	if len(of) == 0 {
		return terms, slots.Later(slot, jobs[0].CalledAt), nil
	}
	known, now, err := e.options.Rules.Terms(ctx, tx, of)
	if err != nil {
		return nil, time.Time{}, err
	}
	for i, t := range known {
		terms[at[i]] = t
	}
	return terms, slots.Later(slot, now), nil
}

// read reads what there is of the runs of the checks, and of their schedules.
func (m *meeting) read(ctx context.Context, tx *sqlx.Tx) error {
	m.runs, m.of, m.ended, m.locked = make(map[prescient.Key]*known), make(map[string][]*known), make(map[string][]*known), make(map[prescient.Key]bool)
	all, err := readKnown(ctx, tx, &m.tables, m.jobs, m.terms)
	for _, run := range all {
		m.locked[run.key] = true
		switch {
		case run.gone():
			m.forget = append(m.forget, run.key)
			continue
		case run.schedule == "":
		case run.endedAt.IsZero():
			m.of[run.schedule] = append(m.of[run.schedule], run)
		default:
			m.ended[run.schedule] = append(m.ended[run.schedule], run)
		}
		m.runs[run.key] = run
	}
	if err == nil {
		err = passOver(ctx, tx, &m.tables, m.jobs, m.terms, m.locked)
	}
	if err == nil && m.claimed() {
		return m.asItWas()
	}
	return err
}

// write writes what was decided.
func (m *meeting) write(ctx context.Context, tx *sqlx.Tx) error {
	if err := m.forgetEnded(ctx, tx, m.forget); err != nil {
		return err
	}
	if len(m.rows) > 0 {
		if _, err := tx.ExecContext(ctx, m.tables.Fill("longrun/start", "{rows}", string(m.rows))); err != nil {
			return fmt.Errorf("starting long runs: %w", err)
		}
	}
	if len(m.starts) > 0 {
		if err := m.options.Rules.Started(ctx, tx, m.starts, m.now); err != nil {
			return err
		}
	}
	return m.tell(ctx, tx, m.ends...)
}

// forgetEnded deletes runs. One that a foreign key of the app keeps stays, and is in nobody's way.
func (m *meeting) forgetEnded(ctx context.Context, tx *sqlx.Tx, keys []prescient.Key) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, m.tables.Fill("longrun/forget", "{keys}", literal.KeysOf(keys)))
	switch {
	case err == nil:
		return nil
	case !errno.KeepsRow(err):
		return fmt.Errorf("forgetting long runs that ended: %w", err)
	case len(keys) == 1:
		m.options.Log.Warn().Err(err).Str("job_exec", m.name).Msg("a long run that ended cannot be forgotten; it stays in the table")
		return nil
	}
	for i := range keys {
		if err := m.forgetEnded(ctx, tx, keys[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// What there is of a check that is to be started by itself.
type presence uint8

const (
	checkThere presence = iota
	checkGone
	checkPaused
)

// startAlone does what a slot run does with checks that it meets, in a transaction of its own, which locks the checks first. Where one of them is
// gone or paused it says so, and does nothing; so several are only to be started together where each can be started by itself.
func (e *exec) startAlone(ctx context.Context, m *meeting) (found presence, err error) {
	tx, err := e.send.DB.BeginTxx(ctx, nil)
	if err != nil {
		return found, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing once it is committed
	present := make([]check.Present, len(m.jobs))
	for i := range m.jobs {
		if present[i], found, err = e.lockCheck(ctx, tx.Tx, &m.jobs[i]); err != nil || found != checkThere {
			return found, err
		}
	}
	if m.terms, m.now, err = e.terms(ctx, tx, m.jobs); err != nil {
		return found, err
	}
	answers, err := m.run(ctx, tx)
	if err != nil {
		return found, err
	}
	if slices.ContainsFunc(m.terms, func(t Terms) bool { return t.Contested }) {
		return found, errContested
	}
	for i, job := range m.jobs {
		v := prescient.Decide(e.tables.Grid, prescient.Guards{Endless: true}, job, answers[i], m.now)
		if v.Outcome != "" && m.kept != nil {
			v = prescient.Decide(e.tables.Grid, prescient.Guards{Endless: true}, job, prescient.Answer{Cause: prescient.CauseRefused, Err: m.kept}, m.now)
		}
		if v.Outcome == "" {
			err = present[i].Move(ctx, job, v)
		} else {
			err = present[i].End(ctx, job, v, nil, 0)
		}
		if err != nil {
			return found, err
		}
	}
	if err := tx.Commit(); err != nil {
		return found, err // what was committed all the same lapses, and is taken over
	}
	for i, job := range m.jobs {
		if late := m.now.Sub(e.tables.Grid.Ceil(job.DueAt)); answers[i].Began && e.guards.SLA > 0 && late > e.guards.SLA {
			// No slot run counts it.
			e.options.Log.Warn().Str("job_exec", job.JobExec).Stringer("entity", job.Entity()).Str("tag", job.Tag).Dur("late", late).
				Msg("a long run starts later than its SLA: it waited for a place, or for the run before it")
		}
	}
	e.launch(m.started)
	e.tellOfOffers(m.offered)
	return found, nil
}

// lockCheck reads and locks a check that is to start.
func (e *exec) lockCheck(ctx context.Context, tx *sql.Tx, job *prescient.FutureJob) (p check.Present, found presence, err error) {
	p, err = check.Find(ctx, tx, &e.tables, e.options.Name, *job)
	switch {
	case err != nil:
		return p, found, err
	case !identityOf(*job).is(&p):
		return p, checkGone, nil
	case p.Paused:
		return p, checkPaused, nil
	}
	job.CalledAt = p.Now
	p.Count(job)
	return p, checkThere, p.Lock(ctx)
}
