package worker

import "context"

// tellKnown tells which job_execs there are. Nothing waits for that to be known.
func (w *Worker) tellKnown(ctx context.Context) {
	if err := w.known.Tell(ctx); err != nil && ctx.Err() == nil {
		w.log.Warn().Err(err).Msg("others do not know the job_execs of this worker")
	}
}
