package longrun

import (
	"cmp"
	"time"

	"prescient/prescient"
)

// A run of a pool is offered by the slot run that meets its check: a row of schedule_run that nobody has, and whose term is over. Agents of the
// pool claim it. It lies where what was handed on and what has lapsed lies.

// poolOf is whose agents may have a run.
func (e *exec) poolOf(terms Terms) string { return cmp.Or(terms.Pool, e.pool) }

// claimsOf is the pool for which runs are started here: a slot run starts those that are anybody's.
func (m *meeting) claimsOf() string {
	if m.claim == nil {
		return ""
	}
	return m.claim.Pool
}

// unpooled is how many of the checks may start in a slot run.
func (m *meeting) unpooled() (n int) {
	for _, terms := range m.terms {
		if m.poolOf(terms) == "" {
			n++
		}
	}
	return n
}

// offer offers a run to the agents of its pool, and has the check come back after the term of a lease. One that is offered already keeps
// its place.
func (m *meeting) offer(job prescient.FutureJob, terms Terms, row *known, r ruling) prescient.Answer {
	pool, answer := m.poolOf(terms), waitUntil(m.now.Add(m.options.Lease)).answer
	if !r.afresh && m.claim == nil && row.pool == pool && row.offered() && !row.allocatedUntil.After(m.now) {
		return answer
	}
	if r.afresh {
		var checkpoint []byte
		if m.guards.Endless && terms.Schedule == "" {
			checkpoint = row.checkpoint // for its start
		}
		*row = known{key: row.key, schedule: terms.Schedule, token: row.token, check: identityOf(job), checkpoint: checkpoint}
	} else if r.takesOver { // nobody knows after that from whom
		row.takeovers++
	}
	row.pool, row.agent, row.allocatedUntil, row.lives = pool, "", m.now, false
	m.keep(row)
	m.rows = row.appendTo(m.rows, job)
	m.offered = append(m.offered, row)
	return answer
}

// putOff gives a run back that was claimed, and may not start yet: nobody claims it for a while. The next slot may offer it before that.
func (m *meeting) putOff(job prescient.FutureJob, row *known, awhile time.Duration) {
	if row.agent != "" && !row.startedAt.IsZero() {
		row.takeovers++
	}
	row.agent, row.allocatedUntil, row.lives = "", m.now.Add(awhile), false
	m.rows = row.appendTo(m.rows, job)
}
