package purge

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Purge is that of the server that a worker is on.
type Purge struct {
	Send   *store.Sender
	Tables *store.Tables
	Log    zerolog.Logger
	// For is for how long a run may put it off; zero for not at all. It is not for ever, since a snapshot puts it off for the
	// whole server: a slot that takes longer has purge work beside it from then on.
	For time.Duration
	// MostOthers is MostOthers, but for tests.
	MostOthers int

	unseen sync.Once // the log says that purge is not put off for want of a right
}

// PutOff has purge wait until ctx ends, for a bounded time. What goes wrong with that is no trouble of the run's.
func (p *Purge) PutOff(ctx context.Context, slot time.Time) {
	if p.Tables.Server == text.TiDB || p.For <= 0 || p.Send.Limited() { // it would take a connection from the run
		return
	}
	ctx, cancel := context.WithTimeout(ctx, p.For)
	defer cancel()
	err := p.holdSnapshot(ctx, slot)
	switch {
	case err == nil || ctx.Err() != nil:
	case errno.Is(err, errno.AccessDenied):
		p.unseen.Do(func() {
			p.Log.Warn().Err(err).Msg("purge is not put off: the worker's account may not look whether that would harm others; it needs GRANT PROCESS ON *.*")
		})
	default:
		p.Log.Debug().Err(err).Msg("the server purges while a slot is run")
	}
}

// holdSnapshot has a snapshot open until ctx ends, or the server comes to be behind with its purge. It reads nothing, so that
// no DDL waits for it.
func (p *Purge) holdSnapshot(ctx context.Context, slot time.Time) error {
	conn, err := p.Send.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	opened, err := p.Look(ctx, conn, 0, slot)
	if err != nil {
		return err
	}
	if do, why := judge(nil, opened, p.For, p.MostOthers); do != openSnapshot {
		p.Log.Debug().Time("slot", slot).Str("why", why).Msg("purge is not put off")
		return nil
	}
	for _, statement := range []string{
		"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", // of the next one; others have no snapshot
		"START TRANSACTION WITH CONSISTENT SNAPSHOT",
	} {
		if _, err := conn.ExecContext(store.MayIdle(ctx, p.For+p.Send.Timeout), statement); err != nil {
			store.Drop(conn)
			return err
		}
	}
	watched := p.watch(ctx, slot, opened)
	// Not for long: the run waits for this.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := conn.ExecContext(ending, "ROLLBACK"); err != nil {
		store.Drop(conn)
		return err
	}
	return watched
}

// watch returns when the snapshot is to end. A server that cannot be looked at is not left with it.
func (p *Purge) watch(ctx context.Context, slot time.Time, opened Seen) error {
	least := opened
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		seen, err := p.Look(ctx, p.Send.DB, opened.connection, slot)
		if err != nil {
			return err
		}
		if do, why := judge(&least, seen, p.For, p.MostOthers); do != keepSnapshot {
			p.Log.Debug().Time("slot", slot).Str("why", why).Msg("purge is put off no longer")
			return nil
		}
		if seen.others() < least.others() {
			least = seen
		}
	}
}
