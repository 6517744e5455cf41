package longrun

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
)

// part is what a run that is a part of another has of its own.
type part struct {
	of   *Run
	wrap func(checkpoint []byte) ([]byte, error)
}

// Part returns a run of another check that lives as long as this one does, for a function that is called within it: as the steps of a
// job are. It has a checkpoint of its own, which is saved as what wrap makes of it: that is the checkpoint of this run then.
func (r *Run) Part(job prescient.FutureJob, checkpoint []byte, wrap func(checkpoint []byte) ([]byte, error)) *Run {
	return &Run{exec: r.exec, job: job, terms: r.terms, row: r.row, slot: r.slot, clock: r.clock, cancel: r.cancel, checkpoint: checkpoint,
		part: &part{of: r, wrap: wrap}}
}

// saveInWhole saves the checkpoint of a part in that of its run.
func (r *Run) saveInWhole(ctx context.Context, do Effect, after func(ctx context.Context, tx *sqlx.Tx) error) error {
	var own []byte
	err := r.part.of.SaveTx(ctx, func(ctx context.Context, tx *sqlx.Tx) ([]byte, error) {
		checkpoint, err := do(ctx, tx)
		if err != nil {
			return nil, err
		}
		own = checkpoint
		return r.part.wrap(checkpoint)
	}, after)
	if err == nil || errors.Is(err, ErrHandOn) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.checkpoint = own
	}
	return err
}

// Function returns the function that was registered under a name, and its guards, whose Timeout is 0 for no bound; nil where there is
// none, as for a job_exec whose checks are no long runs.
func (r *Runner) Function(name string) (Func, prescient.Guards) {
	if r == nil {
		return nil, prescient.Guards{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.execs[name]
	if e == nil {
		return nil, prescient.Guards{}
	}
	return e.fn, e.guards
}
