package longrun

import (
	"context"
	"maps"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
)

// runsPerStatement is how many runs are renewed by one statement.
const runsPerStatement = 500

// renew keeps the leases of all runs alive, a third of the term after they were last, and ends the calls of those whose lease is over.
func (r *Runner) renew() {
	ticker := time.NewTicker(max(r.options.Lease/20, 50*time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-r.idle:
			return
		case <-ticker.C:
		}
		r.renewDue(time.Now())
	}
}

// renewDue renews what is due for it: all runs together, so that a thousand of them are a few statements.
func (r *Runner) renewDue(now time.Time) {
	r.mu.Lock()
	all := slices.Collect(maps.Values(r.runs))
	r.mu.Unlock()
	var due []*Run
	first := false
	for _, run := range all {
		if !run.alive(now) {
			r.claimer.Lapsed(run.row.key)
			continue
		}
		due = append(due, run)
		first = first || run.dueForRenewal(now)
	}
	if !first {
		return
	}
	slices.SortFunc(due, func(a, b *Run) int { return slices.Compare(a.row.key[:], b.row.key[:]) })
	for some := range slices.Chunk(due, runsPerStatement) {
		if err := r.renewSome(some); err != nil {
			r.options.Log.Warn().Err(err).Int("runs", len(some)).Msg("leases of long runs could not be renewed yet")
		}
	}
}

// dueForRenewal says whether a third of the term is over.
func (r *Run) dueForRenewal(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Sub(r.asked) >= r.exec.options.Lease/3
}

// renewSome renews some runs, finds out which of them are lost, and which are not wanted any more.
func (r *Runner) renewSome(some []*Run) error {
	ctx, cancel := context.WithTimeout(context.Background(), r.options.Lease/3)
	defer cancel()
	asked := time.Now()
	n, err := r.send.Exec(ctx, r.tables.Fill("longrun/renew", "{runs}", tokens("", some)), r.options.Lease.Microseconds())
	if err != nil {
		return err
	}
	if n == len(some) {
		for _, run := range some {
			run.renewed(asked)
		}
	}
	held := make(map[prescient.Key]bool, len(some)) // and whether the check is as it was
	err = r.send.Query(ctx, func(ctx context.Context) error {
		clear(held)
		rows, err := r.send.DB.QueryContext(ctx, r.tables.Fill("longrun/held", "{runs}", tokens("run.", some)))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var key []byte
			var wanted bool
			if err := rows.Scan(&key, &wanted); err != nil {
				return err
			}
			held[prescient.Key(key)] = wanted
		}
		return rows.Err()
	})
	if err != nil {
		return err
	}
	for _, run := range some {
		wanted, is := held[run.row.key]
		switch {
		case !is:
			r.claimer.Gone(run.ran(run.expiry())) // unless it has ended just now
		case !wanted:
			r.claimer.Unwanted(run.ran(run.expiry()))
		case n != len(some):
			run.renewed(asked)
		}
	}
	return nil
}

// tokens is the condition that holds for runs under their tokens.
func tokens(table string, some []*Run) string {
	var b []byte
	for i, run := range some {
		if i > 0 {
			b = append(b, " OR "...)
		}
		b = literal.AppendKey(append(append(b, table...), "job_key = "...), run.row.key)
		b = literal.AppendUint(append(append(append(b, " AND "...), table...), "token = "...), run.row.token)
	}
	return string(b)
}
