package bound

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// mostRates is for how many callers rates are kept at a time. Beyond that those are forgotten that sent nothing of late; where none is, newcomers share
// one rate, and nobody is rid of what was counted of them.
const mostRates = 10_000

// Rates bounds what each caller sends. It is for concurrent use.
type Rates[Who comparable] struct {
	each rate.Limit
	most int
	mu   sync.Mutex
	of   map[Who]*rate.Limiter
	// others have no rate of their own; searched is when it was last looked who may be forgotten.
	others   *rate.Limiter
	searched time.Time
}

// NewRates bounds it to so many a second, in bursts of twice as many.
func NewRates[Who comparable](each float64) *Rates[Who] {
	r := &Rates[Who]{each: rate.Limit(each), most: mostRates, of: make(map[Who]*rate.Limiter)}
	r.others = r.limiter()
	return r
}

func (r *Rates[Who]) limiter() *rate.Limiter { return rate.NewLimiter(r.each, max(1, int(2*r.each))) }

// searchEvery is how often it is looked at most who may be forgotten.
const searchEvery = time.Second

// limiterOf is the rate of a caller; it has the lock.
func (r *Rates[Who]) limiterOf(is Who, now time.Time) *rate.Limiter {
	if known := r.of[is]; known != nil {
		return known
	}
	if len(r.of) >= r.most && now.Sub(r.searched) >= searchEvery {
		r.searched = now
		maps.DeleteFunc(r.of, func(_ Who, l *rate.Limiter) bool { return l.TokensAt(now) >= float64(l.Burst()) })
	}
	if len(r.of) >= r.most {
		return r.others
	}
	r.of[is] = r.limiter()
	return r.of[is]
}

// Take says how long a caller has to wait, a second at least; 0 lets it go on.
func (r *Rates[Who]) Take(is Who, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	reservation := r.limiterOf(is, now).ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait == 0 {
		return 0
	}
	reservation.CancelAt(now)
	return max(wait, time.Second)
}
