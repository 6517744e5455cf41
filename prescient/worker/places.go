package worker

import (
	"context"
	"sync/atomic"
)

// places bounds how many slot runs of a kind are under way at a time. Runs that only wait, for slow calls or for other
// workers, have none.
type places chan struct{}

// try takes a place where one is free.
func (p places) try() (*place, bool) {
	select {
	case p <- struct{}{}:
		return newPlace(p), true
	default:
		return nil, false
	}
}

// take waits for a place.
func (p places) take(ctx context.Context) (*place, error) {
	select {
	case p <- struct{}{}:
		return newPlace(p), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// place is what a run has of places. A nil one is of a run that nobody bounds.
type place struct {
	of  places
	has atomic.Bool
}

func newPlace(of places) *place {
	p := &place{of: of}
	p.has.Store(true)
	return p
}

// give gives the place to another run, if it is still taken.
func (p *place) give() {
	if p != nil && p.has.CompareAndSwap(true, false) {
		<-p.of
	}
}

// retake waits for a place again where it was given. It returns false where ctx ended first.
func (p *place) retake(ctx context.Context) bool {
	if p == nil || p.has.Load() {
		return true
	}
	select {
	case p.of <- struct{}{}:
		p.has.Store(true)
		return true
	case <-ctx.Done():
		return false
	}
}
