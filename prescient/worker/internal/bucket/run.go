package bucket

import (
	"context"
	"errors"
	"slices"
	"time"

	"prescient/prescient/worker/internal/ledger"
)

// Run works until the bucket is dry. It returns ledger.ErrLost, ErrStopped, ErrRowsLocked or ErrCrowdedOut where it had to
// leave rows behind; what was answered until then is committed, but in the first case.
func (b *Bucket) Run(ctx context.Context) error {
	if err := b.endKiller(ctx); err != nil {
		return err
	}
	defer b.stopLingering()
	defer b.stopReading()
	for {
		if err := b.standing(); err != nil {
			return b.leave(ctx, err)
		}
		if b.crowdedOut {
			return b.leave(ctx, ErrCrowdedOut)
		}
		b.startAlone()
		read, err := b.read(ctx)
		if err != nil {
			b.cutOff = true // what was read and could not be taken
			return b.leave(ctx, err)
		}
		if b.OnCalled != nil && b.allCalled() {
			b.OnCalled()
			b.OnCalled = nil
		}
		committed, err := b.commitReady(ctx, false)
		if err != nil {
			return err
		}
		if b.finished() {
			return b.outcome()
		}
		if b.onlyLocked() && !b.waitForLocks(time.Now()) {
			return b.leaveLocked(ctx)
		}
		if !read && !committed {
			b.wait()
		}
	}
}

// outcome is nil where every row that was read was answered. Rows that were not started any more are left behind.
func (b *Bucket) outcome() error {
	if !b.cutOff && b.Figures.Locked+b.Figures.Stuck > 0 {
		return ErrRowsLocked
	}
	if !b.cutOff {
		return nil
	}
	if err := b.standing(); err != nil {
		return err
	}
	return ErrStopped
}

// leave waits for what is running, and commits what is answered, unless the lease is lost: then there is nothing to
// commit under.
func (b *Bucket) leave(ctx context.Context, cause error) error {
	if errors.Is(cause, ledger.ErrLost) {
		return cause
	}
	b.stopReading()
	for b.Calls.Err() == nil && b.stillFlying() && b.Lease.Alive(time.Now()) {
		if _, err := b.commitReady(ctx, false); err != nil {
			return err
		}
		b.wait()
	}
	if _, err := b.commitReady(ctx, true); err != nil {
		return err
	}
	return cause
}

// finished says whether nothing is left to be read, called or committed.
func (b *Bucket) finished() bool {
	return len(b.contested) == 0 && !slices.ContainsFunc(b.streams, func(s *stream) bool { return !s.dry || s.outstanding > 0 })
}

// wait sleeps until there is something to do: answers, a stop, or the moment to look at what is slow.
func (b *Bucket) wait() {
	timer := time.NewTimer(b.flushAfter())
	defer timer.Stop()
	select {
	case <-b.wake:
	case <-timer.C:
		b.split()
		b.giveWay()
	case <-b.Calls.Done():
	}
}

// leaveLocked gives up on the rows that are locked, after one more try.
func (b *Bucket) leaveLocked(ctx context.Context) error {
	if err := b.leave(ctx, ErrRowsLocked); !errors.Is(err, ErrRowsLocked) {
		return err
	}
	if b.finished() {
		return b.outcome()
	}
	stuck := 0
	for _, a := range b.contested {
		if a.Stuck {
			stuck++
		} else {
			b.noteLeft(a)
		}
	}
	b.Figures.Stuck += stuck
	b.Figures.Locked += b.locked - stuck
	return ErrRowsLocked
}
