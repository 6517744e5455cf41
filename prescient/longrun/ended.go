package longrun

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
)

// Ended is the end of a run, or of a check that was not run.
type Ended struct {
	// Job is the check, with the slot in which its run started last.
	Job     prescient.FutureJob
	Outcome prescient.Outcome
	// Reason is the text of the error; empty where all went well.
	Reason string
	// At is by the database's clock.
	At time.Time
	// Agent is the one that wrote the end.
	Agent string
}

// OnEnd is told of ends, in the transaction that writes them, last of all. After an error nothing of that is written, and it is tried again.
//
// It is not told of a check that was cancelled or changed while nobody had its run: that is for who did that to know.
type OnEnd func(ctx context.Context, db prescient.DB, ended []Ended) error

// RegisterWithEnds is Register for a job_exec that keeps books on the ends of its runs.
func (r *Runner) RegisterWithEnds(registry *prescient.Registry, name string, fn Func, guards prescient.Guards, onEnd OnEnd) error {
	return r.register(registry, "", name, fn, guards, onEnd)
}

// tell tells of ends.
func (e *exec) tell(ctx context.Context, db prescient.DB, ended ...Ended) error {
	if e.onEnd == nil || len(ended) == 0 {
		return nil
	}
	if err := e.onEnd(ctx, db, ended); err != nil {
		return fmt.Errorf("noting the end of long runs: %w", err)
	}
	return nil
}

// endOf is the end of a check by a verdict; none where that moves it.
func (e *exec) endOf(job prescient.FutureJob, v prescient.Verdict, at time.Time) []Ended {
	if v.Outcome == "" || e.onEnd == nil {
		return nil
	}
	return []Ended{{Job: job, Outcome: v.Outcome, Reason: v.Reason, At: at, Agent: e.options.Name}}
}
