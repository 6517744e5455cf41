package front

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// keptFor is for how long what was made for one is shown to others.
	keptFor = 2 * time.Second
	// mostKept is how many are kept at a time, mostKeptBytes how long they may be in all.
	mostKept, mostKeptBytes = 500, 64 << 20
)

// shared makes a thing once for all who want it within two seconds, also while it is made. It is for concurrent use.
type shared[T any] struct {
	now  func() time.Time
	size func(T) int

	mu    sync.Mutex
	all   map[string]*made[T]
	bytes int
}

// made is a thing that is being made, or was.
type made[T any] struct {
	ready chan struct{} // closed once it is made
	until time.Time     // zero until then
	is    T
	err   error
}

func newShared[T any](now func() time.Time, size func(T) int) *shared[T] {
	return &shared[T]{now: now, size: size, all: make(map[string]*made[T])}
}

// get returns what do made for a key. Who waits for another's is let go when ctx ends; do itself is not, as others may wait for it: it bounds its
// own time. That the other has no place is no answer for anybody else.
func (s *shared[T]) get(ctx context.Context, key string, do func(ctx context.Context) (T, error)) (T, error) {
	s.mu.Lock()
	s.sweep()
	m, others := s.all[key]
	if m == nil {
		m = &made[T]{ready: make(chan struct{})}
		s.all[key] = m
		go s.fill(context.WithoutCancel(ctx), key, m, do)
	}
	s.mu.Unlock()
	select {
	case <-m.ready:
		if others && errors.Is(m.err, errBusy) {
			return guarded(ctx, do)
		}
		return m.is, m.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func (s *shared[T]) fill(ctx context.Context, key string, m *made[T], do func(ctx context.Context) (T, error)) {
	is, err := guarded(ctx, do)
	s.mu.Lock()
	defer s.mu.Unlock()
	m.is, m.err, m.until = is, err, s.now().Add(keptFor)
	switch {
	case s.all[key] != m: // forgotten meanwhile
	case errors.Is(err, errBusy):
		delete(s.all, key)
	default:
		s.bytes += s.size(is)
	}
	close(m.ready)
}

// sweep drops what is old, and all that is made where that is too much. The lock is held.
func (s *shared[T]) sweep() {
	now := s.now()
	much := len(s.all) >= mostKept || s.bytes > mostKeptBytes
	for key, m := range s.all {
		if !m.until.IsZero() && (much || !now.Before(m.until)) {
			s.bytes -= s.size(m.is)
			delete(s.all, key)
		}
	}
}

// forget drops all, also what is being made: something was changed, and who changed it wants to see that.
func (s *shared[T]) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all, s.bytes = make(map[string]*made[T]), 0
}

var errPanic = errors.New("panic")

// guarded makes an error of a panic: one in a view is not to end a process that has other work, too.
func guarded[T any](ctx context.Context, do func(ctx context.Context) (T, error)) (is T, err error) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			panic(p)
		} else if p != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
		}
	}()
	return do(ctx)
}
