package doctor

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
)

// longRunProbe is how many long runs examineLongRuns looks at.
const longRunProbe = 5_000

// LongWait is how long a long run may wait for a place: 15 minutes, or four slots where these are longer.
func LongWait(resolution time.Duration) time.Duration { return max(15*time.Minute, 4*resolution) }

// longRun is a long run that something is wrong with.
type longRun struct {
	ID        string `db:"id"`
	Kind      string `db:"kind"`
	JobExec   string `db:"job_exec"`
	Pool      string `db:"pool"` // empty for none, and where its check was not met yet
	Agent     string `db:"agent"`
	Takeovers int    `db:"takeovers"`
	Reason    string `db:"reason"`
}

// what says what it calls, in which pool, and what is wrong with it.
func (r longRun) what() string {
	text := "job_exec " + r.JobExec
	if r.Pool != "" {
		text += ", pool " + r.Pool
	}
	switch {
	case r.Kind == "left" && r.Agent == "":
		text += ", its worker stopped and handed it on"
	case r.Kind == "left":
		text += ", last held by " + r.Agent
	case r.Kind == "takeovers":
		text += fmt.Sprintf(", taken over %d times, now held by %s", r.Takeovers, r.Agent)
	case r.Kind == "checkpoint":
		text += ", " + r.Reason
	}
	return text
}

// examineLongRuns looks for long runs that nobody goes on with, that wait for long, or that do not get on.
func (l *look) examineLongRuns(ctx context.Context) {
	resolution := l.tables.Grid.Resolution()
	// Its check waits for the first slot after the lease, which a sweep runs at the latest.
	left := l.now.Add(-2*resolution - l.options.SweepGrace - l.options.SweepEvery - time.Minute)
	wait := l.now.Add(-LongWait(resolution))
	soon := l.now.Add(2 * resolution)
	var known, waiting []longRun
	l.rows(ctx, &known, "operate/long_runs", left, longRunProbe, wait, longRunProbe)
	l.rows(ctx, &waiting, "operate/long_waits", l.now, soon, longRunProbe, wait, wait, prescient.AllExecs, longRunProbe)
	of := make(map[string][]faulty)
	for _, run := range append(known, waiting...) {
		of[run.Kind] = append(of[run.Kind], faulty{run.ID, run.what()})
	}
	l.sayOf(of["left"], bad("long_runs", "Nobody goes on with long runs whose leases are over",
		"Start a worker that has registered these job_execs and, where a pool is named, has a place in it (worker.pools). `agents --pools` says where runs wait and no place is free."))
	l.sayOf(of["waiting"], warn("long_runs.waiting", fmt.Sprintf("Long runs that were due %s ago or earlier wait for a place, or for the run before them", l.now.Sub(wait)),
		"Do nothing if `roll-forward` has just moved these runs. Else start more workers, give them more places, or see why the other runs take so long."))
	l.sayOf(of["takeovers"], warn("long_runs.takeovers", "Long runs were taken over more than once, from workers that died or did not renew their leases",
		"Read the logs of those workers. A run that kills its workers ends by itself, as crashed."))
	l.sayOf(of["checkpoint"], warn("long_runs.checkpoint", "Checkpoints were refused", "Save less in the checkpoint. What is large belongs in a table, and the checkpoint says where."))
	l.orFine(ctx, "long_runs", "no long run has lost its worker, or waits for long", longRunsInHand(longRunProbe),
		reach{"the first %s rows of the next slots", longRunProbe, "future_job", "PRIMARY", "WHERE next_check_at > ? AND next_check_at <= ?", []any{l.now, soon}})
}

// longRunsInHand is how far a look at the long runs that have not ended goes.
func longRunsInHand(most int) reach {
	return reach{"the first %s long runs that have not ended", most, "long_run", "ended_at", "WHERE ended_at IS NULL", nil}
}
