package worker

import (
	"context"
	"time"

	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// While a slot run deletes rows, the server's purge removes those that others can see no more from the table and its
// indexes, on the same processors and pages: a fifth of the time that a large slot takes (scripts/bench: ends). An open
// snapshot has it wait for the run's end, when there is time for it. That is for whoever asks for it: everybody's rows stay
// until then, and what else runs on the server walks over them.

// putOff is for how long a run may put purge off; not for ever, since a snapshot puts it off for the whole server: a slot
// that takes longer has it work beside it from then on. A connection that idles for nearly as long as a lease is ended by
// the server, so that this is also what a frozen worker has at most.
func (o *Options) putOff() time.Duration { return min(o.PutOffPurge, o.Lease/3) }

// putOffPurge has the server's purge wait until ctx ends, for a bounded time. What goes wrong with that is no trouble of
// the run's.
func (w *Worker) putOffPurge(ctx context.Context) {
	if w.tables.Server == text.TiDB || w.options.PutOffPurge <= 0 || w.send.Limited() { // it would take a connection from the run
		return
	}
	ctx, cancel := context.WithTimeout(ctx, w.options.putOff())
	defer cancel()
	if err := w.holdSnapshot(ctx); err != nil && ctx.Err() == nil {
		w.log.Debug().Err(err).Msg("the server purges while a slot is run")
	}
}

// holdSnapshot has a snapshot open until ctx ends. It reads nothing, so that no DDL waits for it.
func (w *Worker) holdSnapshot(ctx context.Context) error {
	conn, err := w.send.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, statement := range []string{
		"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", // of the next one; others have no snapshot
		"START TRANSACTION WITH CONSISTENT SNAPSHOT",
	} {
		if _, err := conn.ExecContext(store.MayIdle(ctx, w.options.putOff()+w.send.Timeout), statement); err != nil {
			store.Drop(conn)
			return err
		}
	}
	<-ctx.Done()
	// Not for long: the run waits for this.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := conn.ExecContext(ending, "ROLLBACK"); err != nil {
		store.Drop(conn)
		return err
	}
	return nil
}
