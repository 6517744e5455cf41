package longrun

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/internal/check"
	"prescient/prescient/longrun/internal/claimer"
)

// Serve claims runs until ctx ends or the agent is drained: those of its pools, and of no pool those that another agent has handed on, or
// let lapse. A program that runs slots as they come calls it beside that. It is not for one that runs a slot and ends.
//
// It returns at once where no job_exec is registered.
func (r *Runner) Serve(ctx context.Context) {
	r.mu.Lock()
	n := len(r.execs)
	r.mu.Unlock()
	if n == 0 {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	go func() {
		select {
		case <-r.stopped:
		case <-ctx.Done():
		}
		cancel()
	}()
	r.claimer.Serve(ctx)
}

// host is the agent, as its claimer sees it.
type host struct{ r *Runner }

func (r *Runner) hosts() claimer.Host { return host{r} }

// Full implements claimer.Host.
func (h host) Full(pool string) bool {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return h.r.placesLeft(pool) <= 0
}

// Reserve implements claimer.Host.
func (h host) Reserve(pool string) bool { return h.r.reserve(pool, 1) == 1 }

// Unreserve implements claimer.Host.
func (h host) Unreserve(pool string) { h.r.unreserve(pool, 1) }

// Load implements claimer.Host: the share of the places that are taken, or what the machine has to do, whichever is more.
func (h host) Load(pool string, more int) float64 {
	h.r.mu.Lock()
	taken := h.r.places.taken(pool) + more
	h.r.mu.Unlock()
	load := float64(taken) / float64(max(h.r.places.of(pool), 1))
	if h.r.options.Load != nil {
		load = max(load, h.r.options.Load())
	}
	return min(load, 1)
}

// Execs implements claimer.Host.
func (h host) Execs() []string {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return slices.Sorted(maps.Keys(h.r.execs))
}

// Calls implements claimer.Host.
func (h host) Calls(jobExec string) bool {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return h.r.execs[jobExec] != nil
}

// Stop implements claimer.Host.
func (h host) Stop(key prescient.Key) {
	if run := h.run(key); run != nil {
		run.lose(ErrLost)
	}
}

// Drop implements claimer.Host.
func (h host) Drop(key prescient.Key) {
	if run := h.run(key); run != nil {
		run.cancel(ErrDropped)
	}
}

func (h host) run(key prescient.Key) *Run {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return h.r.runs[key]
}

// Start implements claimer.Host: it starts runs that were claimed, by the rules by which a slot run would. Those of a job_exec start together;
// where that fails each is started by itself.
func (h host) Start(claims []claim) (runs []bool) {
	settled := h.r.startTogether(claims)
	patience := time.Now().Add(contestedFor)
	for _, c := range claims {
		is, done := settled[c.Key]
		runs = append(runs, is || !done && h.start(c, patience))
	}
	return runs
}

// start starts one. It tries for half a lease, or, where somebody else's locks are in the way, until patience is over, and gives it back
// after that.
func (h host) start(c claim, patience time.Time) (runs bool) {
	began, wait := time.Now(), store.NewBackOff()
	for {
		settled, err := h.r.startClaimed(c)
		switch {
		case err == nil:
			return settled[c.Key]
		case errors.Is(err, ErrLost):
			return false
		case contested(err) && time.Now().Before(patience):
			time.Sleep(wait.NextBackOff())
			continue
		case contested(err):
			h.giveBack(c, contestedWait)
			return false
		case (errno.Passing(err) || errors.Is(err, check.ErrMoved)) && time.Since(began) < h.r.options.Lease/2:
			time.Sleep(wait.NextBackOff())
			continue
		}
		h.r.options.Log.Warn().Err(err).Str("pool", c.Pool).Msg("a long run that was claimed could not be started; it is given back")
		h.giveBack(c, h.r.options.Lease)
		return false
	}
}

func (h host) giveBack(c claim, after time.Duration) {
	if err := h.r.giveBack(c, after); err != nil {
		h.r.options.Log.Warn().Err(err).Msg("a long run could not be given back; its lease lapses")
	}
}

// ran is what the claimer knows of a run, which is this agent's until a time.
func (r *Run) ran(until time.Time) claimer.Ran {
	return claimer.Ran{Key: r.row.key, Pool: r.row.pool, JobExec: r.job.JobExec, Token: r.row.token, Until: until}
}

// expiry is when the lease ends, by the database's clock.
func (r *Run) expiry() time.Time {
	return r.clock.When(r.term.Until())
}

// claim is a run that was claimed, and is to be started.
type claim = claimer.Claim

// errAnother is that of a run whose check is gone: another of its key may be there, whose time has not come.
var errAnother = errors.New("the run is that of another check")

// startTogether starts runs that were claimed: those of a job_exec and a pool in one transaction. It says of those that this has settled whether
// they are called now.
func (r *Runner) startTogether(claims []claim) (settled map[prescient.Key]bool) {
	settled = make(map[prescient.Key]bool)
	if len(claims) < 2 {
		return settled
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.send.Timeout)
	defer cancel()
	before := time.Now()
	jobs, err := r.claimedChecks(ctx, claims)
	if err != nil {
		return settled
	}
	groups := make(map[[2]string]*meeting)
	for _, c := range claims {
		job, is := jobs[c.Key]
		e, err := r.callable(job)
		if !is || err != nil || prescient.IsKept(job) {
			continue
		}
		m := groups[[2]string{c.Pool, job.JobExec}]
		if m == nil {
			m = &meeting{exec: e, before: before}
			groups[[2]string{c.Pool, job.JobExec}] = m
		}
		m.jobs, m.claims, m.places = append(m.jobs, job), append(m.claims, c), m.places+1
	}
	for _, m := range groups {
		if found, err := m.startAlone(ctx, m); err == nil && found == checkThere {
			maps.Copy(settled, m.called())
		}
	}
	return settled
}

// startClaimed starts a run that was claimed, in a transaction which locks the check first and proves the token, or writes what becomes
// of it otherwise.
func (r *Runner) startClaimed(c claim) (settled map[prescient.Key]bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), r.send.Timeout)
	defer cancel()
	before := time.Now()
	jobs, err := r.claimedChecks(ctx, []claim{c})
	if err != nil {
		return nil, err
	}
	job, is := jobs[c.Key]
	if !is {
		return nil, r.endGone(c)
	}
	if prescient.IsKept(job) { // whoever runs its slot tries to end it
		failed := string(prescient.Failed)
		return nil, r.release(c, nil, &failed)
	}
	e, err := r.callable(job)
	if err != nil {
		return nil, err
	}
	m := &meeting{exec: e, jobs: []prescient.FutureJob{job}, before: before, places: 1, claims: []claim{c}}
	found, err := e.startAlone(ctx, m)
	if errno.KeepsRow(err) {
		m = &meeting{exec: e, jobs: []prescient.FutureJob{job}, before: before, places: 1, claims: []claim{c}, kept: err}
		if found, err = e.startAlone(ctx, m); err == nil && len(m.started) == 0 {
			r.options.Log.Error().Err(m.kept).Str("job_exec", job.JobExec).Stringer("entity", job.Entity()).Str("tag", job.Tag).
				Msg("a long run cannot be ended; its check is put off, and not called any more")
		}
	}
	switch {
	case errors.Is(err, errAnother), err == nil && found == checkGone:
		return nil, r.endGone(c)
	case err == nil && found == checkPaused:
		return nil, r.giveBack(c, r.options.Lease)
	case err != nil:
		return nil, err
	}
	return m.called(), nil
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

// claimedChecks reads the checks of runs. The slot of each is that in which it was met. Those that are gone are not among them.
func (r *Runner) claimedChecks(ctx context.Context, claims []claim) (map[prescient.Key]prescient.FutureJob, error) {
	keys := make([]prescient.Key, len(claims))
	for i, c := range claims {
		keys[i] = c.Key
	}
	rows, err := r.send.DB.QueryContext(ctx, r.tables.Fill("longrun/claimed", "{keys}", literal.KeysOf(keys)))
	if err != nil {
		return nil, fmt.Errorf("reading the checks of long runs: %w", err)
	}
	defer rows.Close()
	jobs := make(map[prescient.Key]prescient.FutureJob)
	for rows.Next() {
		var job prescient.FutureJob
		var payload []byte
		var expires sql.NullTime
		if err := rows.Scan(&job.NextCheckAt, &job.EntityName, &job.EntityKey, &job.JobExec, &job.Tag, &job.DueAt, &job.FirstCheckAt, &job.CheckCount, &job.ErrorCount,
			&job.PutOffCount, &job.LastError, &job.TotalMS, &payload, &job.Revision, &job.InsertedAt, &expires); err != nil {
			return nil, fmt.Errorf("reading the checks of long runs: %w", err)
		}
		job.Payload = payload
		if expires.Valid {
			job.ExpiresAt = prescient.At(expires.Time)
		}
		jobs[job.Key()] = job
	}
	return jobs, rows.Err()
}

// claimed says whether its checks are of runs that were claimed.
func (m *meeting) claimed() bool { return m.claims != nil }

// called says of runs that were claimed whether they are called now.
func (m *meeting) called() map[prescient.Key]bool {
	runs := make(map[prescient.Key]bool)
	for _, c := range m.claims {
		runs[c.Key] = false
	}
	for _, run := range m.started {
		runs[run.row.key] = true
	}
	return runs
}

// asItWas has runs that were claimed look as they did before that, for the rules. Each is there, locked, and this agent's; else ErrLost.
func (m *meeting) asItWas() error {
	for i, c := range m.claims {
		run := m.runs[c.Key]
		switch {
		case m.terms[i].Contested:
			return errContested
		case run == nil || run.token != c.Token || !run.offered():
			return ErrLost
		case run.check != identityOf(m.jobs[i]) && !run.renewedAs(m.jobs[i]):
			return errAnother
		}
		run.agent, run.allocatedUntil, run.lives = c.Agent, c.Until, false
	}
	return nil
}

// A run of a pool is offered by the slot run that meets its check: a row of long_run that nobody has, and whose term is over. Agents of the
// pool claim it. It lies where what was handed on and what has lapsed lies.

// poolOf is whose agents may have a run.
func (e *exec) poolOf(terms Terms) string { return cmp.Or(terms.Pool, e.pool) }

// claimsOf is the pool for which runs are started here: a slot run starts those that are anybody's.
func (m *meeting) claimsOf() string {
	if !m.claimed() {
		return ""
	}
	return m.claims[0].Pool
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

// tellOfOffers tells the agents of their pools of runs that were offered.
func (e *exec) tellOfOffers(offered []*known) {
	for _, row := range offered {
		e.claimer.Offered(claimer.Ran{Key: row.key, Pool: row.pool, JobExec: e.name, Token: row.token, Until: row.allocatedUntil})
	}
}
