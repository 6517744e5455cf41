package doctor

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
)

// How much examineLongRuns looks at, and from when on a run waits for long.
const (
	longRunProbe = 5_000
	longWait     = 15 * time.Minute
	longWaitFor  = 4 // slots, where those are longer together
)

// longRun is a long run that something is wrong with.
type longRun struct {
	ID        string `db:"id"`
	Kind      string `db:"kind"`
	Agent     string `db:"agent"`
	Takeovers int    `db:"takeovers"`
	Reason    string `db:"reason"`
}

// examineLongRuns looks for long runs that nobody goes on with, that wait for long, or that do not get on.
func (d *doctor) examineLongRuns(ctx context.Context) ([]Finding, error) {
	resolution := d.tables.Grid.Resolution()
	// Its check waits for the first slot after the lease, which a sweep runs at the latest.
	left := d.now.Add(-2*resolution - d.options.SweepGrace - d.options.SweepEvery - time.Minute)
	wait := d.now.Add(-max(longWait, longWaitFor*resolution))
	var all []longRun
	for _, look := range []struct {
		statement string
		args      []any
	}{
		{"operate/long_runs", []any{left, longRunProbe, wait, longRunProbe}},
		{"operate/long_waits", []any{d.now, d.now.Add(2 * resolution), longRunProbe, wait, wait, prescient.AllExecs, longRunProbe}},
	} {
		var some []longRun
		if err := d.db.SelectContext(ctx, &some, d.tables.Stmt.Get(look.statement), look.args...); err != nil {
			return nil, fmt.Errorf("%s: %w", look.statement, err)
		}
		all = append(all, some...)
	}
	of := make(map[string][]faulty)
	for _, run := range all {
		one := faulty{ID: run.ID}
		switch run.Kind {
		case "left":
			if one.Reason = "handed on"; run.Agent != "" {
				one.Reason = "last held by " + run.Agent
			}
		case "takeovers":
			one.Reason = fmt.Sprintf("%d times, now held by %s", run.Takeovers, run.Agent)
		case "checkpoint":
			one.Reason = run.Reason
		}
		of[run.Kind] = append(of[run.Kind], one)
	}
	var found []Finding
	if some := of["left"]; len(some) > 0 {
		found = append(found, bad("long_runs", "Nobody goes on with long runs whose leases are over: "+named(some)+".",
			"Start a worker that has registered their job_execs and has a place in their pools (worker.pools). `agents` lists the workers."))
	}
	if some := of["waiting"]; len(some) > 0 {
		found = append(found, warn("long_runs.waiting", fmt.Sprintf("Long runs that were due %s ago or earlier wait for a place, or for the run before them: ", d.now.Sub(wait))+named(some)+".",
			"Nothing, if `roll-forward` has just moved these runs. Else start more workers, give them more places, or see why the other runs take so long."))
	}
	if some := of["takeovers"]; len(some) > 0 {
		found = append(found, warn("long_runs.takeovers", "Long runs were taken over more than once, from workers that died or did not renew their leases: "+named(some)+".",
			"Read the logs of those workers. A run that kills its workers ends as crashed."))
	}
	if some := of["checkpoint"]; len(some) > 0 {
		found = append(found, warn("long_runs.checkpoint", "Checkpoints were refused: "+named(some)+".", "Save less in the checkpoint. What is large belongs in a table, and the checkpoint says where."))
	}
	parts, err := d.parts(ctx, reach{"the first %s long runs that have not ended", longRunProbe, "long_run", "ended_at", "WHERE ended_at IS NULL", nil},
		reach{"the first %s rows of the next slots", longRunProbe, "future_job", "PRIMARY", "WHERE next_check_at > ? AND next_check_at <= ?", []any{d.now, d.now.Add(2 * resolution)}})
	if err != nil {
		return nil, err
	}
	return orFine(found, "long_runs", "no long run has lost its worker, or waits for long", parts...), nil
}
