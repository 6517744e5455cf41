package longrun

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
)

// meet is what a slot run calls for checks of long runs that are due: it claims the runs of no pool for which this agent has places, and offers the
// others, in the transaction that moves their checks on.
func (e *exec) meet(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) error {
	if e.Runner == nil {
		return fmt.Errorf("%w: job_exec %q was registered without a runner of long runs, which cannot call it", prescient.ErrInvalid, batch.Jobs()[0].JobExec)
	}
	jobs := batch.Jobs()
	terms, now, err := e.terms(ctx, tx, jobs)
	if err != nil {
		return err
	}
	m := &claims{exec: e, jobs: jobs, terms: terms, now: now, before: time.Now()}
	m.places = e.reserve("", m.unpooled())
	batch.AfterTx(func(committed bool) {
		if committed {
			e.launch(m.started)
			e.tellOfOffers(m.offered)
		}
		e.unreserve("", m.places) // runs that have started have theirs by now
	})
	answers, err := m.claim(ctx, tx)
	if err != nil {
		return err
	}
	for i, a := range answers {
		batch.Give(i, a)
	}
	return nil
}
