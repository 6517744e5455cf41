package service

import (
	"context"

	"prescient/prescient/agent"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
)

// RunSlot runs the slot that is now, for a timer: it returns when nothing of it is left for this worker, and its long runs have ended. Where ctx ends
// these are handed on. Its errors are those of worker.Worker.Run.
func (s *Service) RunSlot(ctx context.Context) (figures books.Figures, err error) {
	err = s.once(ctx, agent.Run, func(ctx context.Context, w *worker.Worker) (err error) {
		figures, err = w.Run(ctx)
		return err
	})
	return figures, err
}

// Sweep is RunSlot for what earlier slots left behind. Its errors are those of worker.Worker.Sweep. begins is told before how many slots there
// are, which costs a look; nil for nobody.
func (s *Service) Sweep(ctx context.Context, begins func(overdue int)) (swept []books.Figures, err error) {
	err = s.once(ctx, agent.Sweep, func(ctx context.Context, w *worker.Worker) error {
		if begins != nil {
			overdue, err := w.Overdue(ctx)
			if err != nil {
				return err
			}
			begins(overdue)
		}
		var err error
		swept, err = w.Sweep(ctx)
		return err
	})
	return swept, err
}

// once runs slots as a timer does: others know that it came, and by when it is to come again.
func (s *Service) once(ctx context.Context, kind agent.Kind, run func(ctx context.Context, w *worker.Worker) error) error {
	starting, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	w, err := s.newWorker(starting)
	if err != nil {
		return err
	}
	do := func(ctx context.Context) error {
		err := run(ctx, w)
		s.sumUp(ctx)
		return err
	}
	if s.Long != nil {
		slots := do
		do = func(ctx context.Context) error { return s.awaitingLong(ctx, slots) }
	}
	if !s.options.has(Agent) {
		return do(ctx)
	}
	a, err := s.newAgent(starting, w, kind)
	if err != nil {
		return err
	}
	return registered(ctx, a, do)
}

// sumUp sums up history after a slot, for a second and to the end of an hour: where workers are timers, nobody else does.
func (s *Service) sumUp(ctx context.Context) {
	if ctx.Err() != nil || !s.options.has(Statistics) {
		return
	}
	rollup, err := s.newRollup(ctx)
	if err != nil {
		s.options.Worker.Log.Warn().Err(err).Msg("history is not summed up")
		return
	}
	rollup.Once(ctx)
}
