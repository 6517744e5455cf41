package serve

import (
	"context"
	"sync"
	"time"
)

const (
	probeEvery = 5 * time.Second
	probeTime  = 3 * time.Second
)

// remembered is what was last seen of the database: it is looked at when somebody asks, and not more often than every so often.
type remembered[T any] struct {
	mu   sync.Mutex
	at   time.Time
	seen T
	err  error
}

func (r *remembered[T]) look(ask func(ctx context.Context) (T, error)) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && time.Since(r.at) < probeEvery {
		return r.seen, r.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	r.seen, r.err = ask(ctx)
	r.at = time.Now()
	return r.seen, r.err
}
