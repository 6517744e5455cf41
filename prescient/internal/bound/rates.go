package bound

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// mostRates is for how many callers rates are kept at a time; who they are admins decide, so that there are few.
const mostRates = 10_000

// Rates bounds what each caller sends. It is for concurrent use.
type Rates[Who comparable] struct {
	each rate.Limit
	mu   sync.Mutex
	of   map[Who]*rate.Limiter
}

// NewRates bounds it to so many a second, in bursts of twice as many.
func NewRates[Who comparable](each float64) *Rates[Who] {
	return &Rates[Who]{each: rate.Limit(each), of: make(map[Who]*rate.Limiter)}
}

// Take says how long a caller has to wait, a second at least; 0 lets it go on.
func (r *Rates[Who]) Take(is Who, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	limiter := r.of[is]
	if limiter == nil {
		if len(r.of) >= mostRates {
			clear(r.of)
		}
		limiter = rate.NewLimiter(r.each, max(1, int(2*r.each)))
		r.of[is] = limiter
	}
	reservation := limiter.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait == 0 {
		return 0
	}
	reservation.CancelAt(now)
	return max(wait, time.Second)
}
