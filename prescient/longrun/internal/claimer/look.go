package claimer

import (
	"context"
	"slices"
	"strconv"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/machine"
	text "prescient/sql"
)

const (
	// mostRead is how many runs of a pool a look reads that may be claimed, and nextRead, where there is no place, nor one came free since the look
	// before: those that come next. Agents that take turns fast would all claim the same of so few.
	mostRead, nextRead = 500, 50
	// livingRead is how many runs it reads that lapse next.
	livingRead = 8
)

// found is a run that a look has found.
type found struct {
	key     prescient.Key
	pool    string
	jobExec string
	due     time.Time
	checked bool // its check is there
	row     machine.Row
}

// query is the statement of a look, and how many runs it reads at most of each pool that may be claimed. freed are the pools in which places came free.
func (c *Claimer) query(freed map[string]bool) (statement string, most map[string]int) {
	most = make(map[string]int)
	var b []byte
	execs := "NULL" // none
	if names := c.caller.Execs(); len(names) > 0 {
		execs = literal.List(literal.AppendText, names)
	}
	const until = "run.allocated_until"
	for _, pool := range c.Pools {
		due := nextRead
		if freed[pool] || !c.caller.Full(pool) {
			due = mostRead
		}
		most[pool] = due
		for _, part := range []struct {
			which string
			limit int
		}{{text.Over(until), due}, {text.Lives(until), livingRead}, {text.Far(until), due}} {
			b = append(b, " UNION ALL ("...)
			b = append(b, c.Tables.Fill("longrun/look_pool", "{pool}", literal.Of(literal.AppendText, pool), "{which}", part.which,
				"{execs}", execs, "{limit}", strconv.Itoa(part.limit))...)
			b = append(b, ')')
		}
	}
	return c.Tables.Fill("longrun/look", "{pools}", string(b)), most
}

// look reads what may be claimed, and has the machines hear of it.
func (c *Claimer) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.Send.Timeout)
	defer cancel()
	c.mu.Lock()
	c.began++
	began, freed := c.began, c.freed
	c.freed = make(map[string]bool)
	c.mu.Unlock()
	query, most := c.query(freed)
	type row struct {
		found
		now time.Time
	}
	rows, err := store.Rows(ctx, c.Send.DB, "looking for long runs", query, func(r *row) []any {
		return []any{&r.now, store.Key(&r.key), store.OrZero(&r.pool), store.OrZero(&r.row.Agent), store.OrZero(&r.row.Token), store.OrZero(&r.row.Until),
			store.OrZero(&r.due), store.OrZero(&r.jobExec)}
	})
	if err != nil {
		return err
	}
	var all []found
	var now time.Time
	for _, r := range rows {
		if now = r.now; r.key == (prescient.Key{}) {
			continue
		}
		if r.row.Until.After(now.Add(prescient.MaxLease)) { // nobody heeds it
			r.row.Until = now
		}
		r.row.Until, r.checked = r.row.Until.UTC(), r.jobExec != ""
		all = append(all, r.found)
	}
	whole := make(map[string]bool)
	for _, f := range all {
		most[f.pool]--
	}
	for pool, left := range most {
		whole[pool] = left > 0
	}
	clock := store.ClockAt(now)
	c.mu.Lock()
	c.unmeetTaken(began, all, clock.Now(), whole)
	c.mu.Unlock()
	c.saw(clock, all)
	return nil
}

// saw has the machines hear what a look has found, and says when to look again.
func (c *Claimer) saw(clock store.Clock, all []found) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock = clock
	now := clock.Now()
	c.looks++
	c.lookedAt, c.lookAt = now, nextLook(c.Tables.Grid, now, len(all) > 0)
	there := make(map[prescient.Key]bool, len(all))
	slices.SortFunc(all, func(a, b found) int { return first(a.due, b.due, place(c.Agent, a.key), place(c.Agent, b.key)) })
	ahead := make(map[string]int)
	for _, f := range all {
		if f.checked && !c.caller.Calls(f.jobExec) {
			continue // for agents that have its function
		}
		if !c.isOurs(f.key) {
			continue
		}
		there[f.key] = true
		kind := machine.Refresh
		t := c.machines[f.key]
		if t != nil && t.disproved(f.row.Token) {
			c.step(t, now, 0, machine.Event{Kind: machine.Remove})
			t = nil
		}
		if t == nil {
			kind = machine.ReadNew
			t = c.track(f.key, f.pool, f.jobExec)
		}
		t.pool, t.due, t.missed = f.pool, f.due, false
		c.step(t, now, ahead[f.pool], machine.Event{Kind: kind, Row: f.row})
		if !f.row.Until.After(now) {
			ahead[f.pool]++
		}
	}
	for _, t := range c.machines {
		if !there[t.key] && t.State != machine.Elected && t.State != machine.Executing {
			c.step(t, now, 0, machine.Event{Kind: machine.Remove})
		}
	}
}

// disproved says whether two looks in a row have shown a lower token than the one that is known. The first of them may be older than what
// is known; the second is not. So the row is another by now: the server is one that lacks the last commits of the one before it, or what another
// agent said was wrong. A run that is claimed or called here has statements of its own that find that out.
func (t *tracked) disproved(token uint64) bool {
	if t.State == machine.Elected || t.State == machine.Executing || token >= t.Row.Token {
		t.doubted = 0
		return false
	}
	before := t.doubted
	t.doubted = t.Row.Token
	return before == t.Row.Token
}

// track begins to know of a run. The lock is held.
func (c *Claimer) track(key prescient.Key, pool, jobExec string) *tracked {
	t := &tracked{key: key, pool: pool, jobExec: jobExec, place: place(c.Agent, key)}
	c.machines[key] = t
	return t
}
