package longrun

import (
	"cmp"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/lease"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/internal/check"
)

// rule decides about a check, and takes note of what is to be written.
func (m *claims) rule(i int) prescient.Answer {
	job, terms := m.jobs[i], m.terms[i]
	key := job.Key()
	met := met{job: job, guards: m.guards, terms: terms, run: m.runs[key], others: m.of[terms.Schedule], room: m.claimed() || len(m.started) < m.places, elsewhere: m.poolOf(terms) != m.claimsPool(), claimed: m.claimed(), now: m.now}
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
		m.soon = append(m.soon, key)
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
	if r.answer.Cause != prescient.CauseWaits {
		m.ends = append(m.ends, m.endOf(job, prescient.Decide(m.tables.Grid, m.guards, job, r.answer, m.now), m.now)...)
	}
	if r.answer.Err != nil {
		m.options.Log.Warn().Err(r.answer.Err).Str("job_exec", job.JobExec).Stringer("entity", job.Entity()).Str("tag", job.Tag).Msg("a long run is not started")
	}
	return r.answer
}

// start makes a run this agent's.
func (m *claims) start(job prescient.FutureJob, terms Terms, row *known, r ruling) prescient.Answer {
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
	a := waitUntil(row.allocatedUntil).answer
	a.Began = r.afresh
	run := m.newRun(job, terms, row)
	run.at = check.Place{Slot: prescient.Decide(m.tables.Grid, m.guards, job, a, m.now).Slot, Revision: job.Revision + 1}
	m.started = append(m.started, run)
	return a
}

// startedOf is the run of a check that has started; nil for none.
func (m *claims) startedOf(key prescient.Key) *Run {
	for _, run := range m.started {
		if run.row.key == key {
			return run
		}
	}
	return nil
}

// startsOf lets later occurrences of the same batch know of a start.
func (m *claims) startsOf(schedule string) {
	for i := range m.terms {
		if m.terms[i].Schedule == schedule {
			m.terms[i].LastStart = m.now
		}
	}
}

// keep has a run stand among those of its schedule.
func (m *claims) keep(row *known) {
	m.runs[row.key] = row
	if row.schedule != "" && !slices.Contains(m.of[row.schedule], row) {
		m.of[row.schedule] = append(m.of[row.schedule], row)
	}
}

// checkpointFor is where the first call of a run goes on: at the checkpoint of the run before it, unless that was done. One that waited,
// and ended without a start, had none. All that ended are forgotten then, but for what ends in this transaction, which is written later.
func (m *claims) checkpointFor(terms Terms) (checkpoint []byte) {
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

// poolOf is whose agents may have a run.
func (e *exec) poolOf(terms Terms) string { return cmp.Or(terms.Pool, e.pool) }

// claimsPool is that of the runs which are claimed here: a slot run claims those that are anybody's.
func (m *claims) claimsPool() string {
	if !m.claimed() {
		return ""
	}
	return m.free[0].Pool
}

// unpooled is how many of the checks may start in a slot run.
func (m *claims) unpooled() (n int) {
	for _, terms := range m.terms {
		if m.poolOf(terms) == "" {
			n++
		}
	}
	return n
}

// offer offers a run to the agents of its pool, and has the check come back after the term of a lease, or where any agent may have the run, in the
// next slot. One that is offered already keeps its place.
func (m *claims) offer(job prescient.FutureJob, terms Terms, row *known, r ruling) prescient.Answer {
	pool, answer := m.poolOf(terms), waitUntil(m.now.Add(m.options.Lease)).answer
	if pool == "" { // whichever worker meets it next may have a place
		answer.Next = nil
	}
	if !r.afresh && !m.claimed() && row.pool == pool && row.offered() && !row.allocatedUntil.After(m.now) {
		return answer
	}
	if r.afresh {
		var checkpoint []byte
		if m.guards.Endless && terms.Schedule == "" {
			checkpoint = row.checkpoint // for its start
		}
		*row = known{key: row.key, schedule: terms.Schedule, pending: true, token: row.token, check: identityOf(job), checkpoint: checkpoint}
	} else if r.takesOver { // nobody knows after that from whom
		row.takeovers++
	}
	// Of those that are offered together the earliest is to be claimed first: what was decided before stands before it.
	since := m.now.Add(time.Duration(len(m.offered)-len(m.jobs)) * time.Microsecond)
	row.pool, row.agent, row.allocatedUntil, row.lives = pool, "", since, false
	m.keep(row)
	m.rows = row.appendTo(m.rows, job)
	m.offered = append(m.offered, row)
	return answer
}

// putOff puts a run off that was claimed, and may not start yet: nobody claims it for a while. The next slot may offer it before that.
func (m *claims) putOff(job prescient.FutureJob, row *known, awhile time.Duration) {
	if row.agent != "" && !row.startedAt.IsZero() {
		row.takeovers++
	}
	row.agent, row.allocatedUntil, row.lives = "", m.now.Add(awhile), false
	m.rows = row.appendTo(m.rows, job)
}

func (m *claims) newRun(job prescient.FutureJob, terms Terms, row *known) *Run {
	job.CalledAt = m.now
	run := &Run{exec: m.exec, job: job, terms: terms, row: *row, slot: job.NextCheckAt, clock: store.Clock{Told: m.now, At: m.before}, checkpoint: row.checkpoint}
	run.term.Begin(m.before, m.options.Lease)
	return run
}
