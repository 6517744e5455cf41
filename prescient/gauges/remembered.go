package gauges

import (
	"cmp"
	"context"
	"sync"
	"time"
)

const (
	lookEvery = 5 * time.Second
	lookTime  = 3 * time.Second
)

// Remembered is what was last seen of the database: it is looked at when somebody asks, and not more often than every 5 seconds.
type Remembered[T any] struct {
	// Within is for how long it may ask, 3 seconds by default.
	Within time.Duration

	mu   sync.Mutex
	at   time.Time
	seen T
	err  error
}

// Look asks, or returns what it was told a moment ago.
func (r *Remembered[T]) Look(ask func(ctx context.Context) (T, error)) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && time.Since(r.at) < lookEvery {
		return r.seen, r.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(r.Within, lookTime))
	defer cancel()
	r.seen, r.err = ask(ctx)
	r.at = time.Now()
	return r.seen, r.err
}
