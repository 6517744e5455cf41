package front

import (
	"context"
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
type shared struct {
	now func() time.Time

	mu    sync.Mutex
	all   map[string]*made
	bytes int
}

// made is a thing that is being made, or was.
type made struct {
	ready chan struct{} // closed once it is made
	until time.Time     // zero until then
	is    built
	err   error
}

func newShared(now func() time.Time) *shared {
	return &shared{now: now, all: make(map[string]*made)}
}

// get returns what do made for a key. Who waits for another's is let go when ctx ends; do itself is not, as others may wait for it: it bounds its
// own time.
func (s *shared) get(ctx context.Context, key string, do func(ctx context.Context) (built, error)) (built, error) {
	s.mu.Lock()
	s.sweep()
	m := s.all[key]
	if m == nil {
		m = &made{ready: make(chan struct{})}
		s.all[key] = m
		go s.fill(context.WithoutCancel(ctx), key, m, do)
	}
	s.mu.Unlock()
	select {
	case <-m.ready:
		return m.is, m.err
	case <-ctx.Done():
		return built{}, ctx.Err()
	}
}

func (s *shared) fill(ctx context.Context, key string, m *made, do func(ctx context.Context) (built, error)) {
	is, err := guarded(ctx, do)
	s.mu.Lock()
	defer s.mu.Unlock()
	m.is, m.err, m.until = is, err, s.now().Add(keptFor)
	if s.all[key] == m { // not forgotten meanwhile
		s.bytes += len(is.body)
	}
	close(m.ready)
}

// sweep drops what is old, and all that is made where that is too much. The lock is held.
func (s *shared) sweep() {
	now := s.now()
	much := len(s.all) >= mostKept || s.bytes > mostKeptBytes
	for key, m := range s.all {
		if !m.until.IsZero() && (much || !now.Before(m.until)) {
			s.bytes -= len(m.is.body)
			delete(s.all, key)
		}
	}
}

// forget drops all, also what is being made: something was changed, and who changed it wants to see that.
func (s *shared) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all, s.bytes = make(map[string]*made), 0
}
