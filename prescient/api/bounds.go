package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"prescient/prescient/ops"
)

// who tells callers apart: those who proved themselves by no token by their names.
type who struct {
	token uint64
	name  string
}

func whoIs(by ops.Caller) who { return who{by.Token, by.Name} }

// places are for what is done at a time, each of which one caller may have some.
type places struct {
	most, each int
	mu         sync.Mutex
	all        int
	of         map[who]int
}

func newPlaces(most, each int) *places {
	return &places{most: most, each: each, of: make(map[who]int)}
}

// take has a place for a caller, until leave is called. It is nil where there is none; own says that the caller itself has as many as it may.
func (p *places) take(by ops.Caller) (leave func(), own bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	is := whoIs(by)
	switch {
	case p.of[is] >= p.each:
		return nil, true
	case p.all >= p.most:
		return nil, false
	}
	p.all++
	p.of[is]++
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.all--
		if p.of[is]--; p.of[is] == 0 {
			delete(p.of, is)
		}
	}), false
}

// maxRates is for how many callers rates are kept at a time; tokens are made by admins, so that there are few.
const maxRates = 10_000

// rates bounds what each caller sends.
type rates struct {
	each rate.Limit
	mu   sync.Mutex
	of   map[who]*rate.Limiter
}

// take says how long the caller has to wait; 0 lets it go on.
func (r *rates) take(by ops.Caller) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	limiter := r.of[whoIs(by)]
	if limiter == nil {
		if r.of == nil || len(r.of) >= maxRates {
			r.of = make(map[who]*rate.Limiter)
		}
		limiter = rate.NewLimiter(r.each, max(1, int(2*r.each)))
		r.of[whoIs(by)] = limiter
	}
	reservation := limiter.Reserve()
	wait := reservation.Delay()
	if wait == 0 {
		return 0
	}
	reservation.Cancel()
	return max(wait, time.Second)
}

const (
	// triesEach is how many tokens an address may have looked up a second that sent one which is no good, in bursts of triesAtOnce.
	triesEach, triesAtOnce = 50, 50
	// tryWithin is how long the next of them waits at most; so a newcomer has a turn beside who guesses over a hundred connections.
	tryWithin = 2 * time.Second
	// maxStrangers is of how many addresses that is kept, and how many tokens are known that were good.
	maxStrangers = 10_000
)

// strangers bounds what an address may try whose tokens are no good: each costs a look into the database. What was good before is looked up at
// once all the same: others may come from the same address, by a proxy.
type strangers struct {
	mu     sync.Mutex
	failed map[netip.Prefix]*rate.Limiter
	good   map[[sha256.Size]byte]bool
}

func newStrangers() *strangers {
	return &strangers{failed: make(map[netip.Prefix]*rate.Limiter), good: make(map[[sha256.Size]byte]bool)}
}

// stranger is what is seen of a request before it is known who sent it. proof is nil where it has none.
type stranger struct {
	from  netip.Prefix
	proof *[sha256.Size]byte
}

// strangerOf reads an address as far as it is given to one: of IPv6 that is a network.
func strangerOf(r *http.Request) (s stranger) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if addr, err := netip.ParseAddr(host); err == nil { // a socket without an address is one, too
		addr = addr.Unmap().WithZone("")
		s.from, _ = addr.Prefix(min(addr.BitLen(), 64))
	}
	if header := r.Header.Get("Authorization"); header != "" {
		sum := sha256.Sum256([]byte(header))
		s.proof = &sum
	}
	return s
}

// turn says for how long a request waits until it is looked at; may is false where that is too long.
func (s *strangers) turn(is stranger, now time.Time) (wait time.Duration, may bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limiter := s.failed[is.from]
	if is.proof == nil || limiter == nil || s.good[*is.proof] {
		return 0, true
	}
	turn := limiter.ReserveN(now, 1)
	if wait = turn.DelayFrom(now); wait > tryWithin {
		turn.CancelAt(now)
		return 0, false
	}
	return wait, true
}

// sleep waits, unless ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// note notes what came of looking.
func (s *strangers) note(is stranger, err error) {
	if is.proof == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		if len(s.good) >= maxStrangers {
			clear(s.good)
		}
		s.good[*is.proof] = true
	case errors.Is(err, ops.ErrUnauthorized):
		delete(s.good, *is.proof)
		if s.failed[is.from] == nil {
			if len(s.failed) >= maxStrangers {
				clear(s.failed)
			}
			s.failed[is.from] = rate.NewLimiter(triesEach, triesAtOnce)
		}
	}
}
