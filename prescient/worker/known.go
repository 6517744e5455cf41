package worker

import (
	"context"
	"errors"
)

// tellKnown tells which job_execs there are. It takes no longer than one try of a statement: somebody may have the table locked, and no slot
// depends on it.
func (w *Worker) tellKnown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, w.send.Timeout)
	defer cancel()
	if err := w.known.Tell(ctx); err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		w.log.Warn().Err(err).Msg("others do not know the job_execs of this worker")
	}
}
