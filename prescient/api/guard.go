package api

import (
	"cmp"
	"context"
	"errors"
	"mime"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"prescient/prescient/ops"
	"prescient/prescient/ops/door"
	"prescient/prescient/ops/stream"
)

type callerKey struct{}

func callerOf(ctx context.Context) ops.Caller {
	by, _ := ctx.Value(callerKey{}).(ops.Caller)
	return by
}

// guard lets requests through to next of callers that are known, as fast as they may send them, and as many at a time as are bearable.
func guard(o Options, next http.Handler) http.Handler {
	// Who is not known yet takes no place of those who are.
	concurrent := cmp.Or(o.Concurrent, door.DefaultConcurrent)
	doors := make(chan struct{}, concurrent)
	places := newPlaces(concurrent, max(1, concurrent/2)) // one caller leaves half of them to others
	rates := &rates{each: rate.Limit(cmp.Or(o.Rate, door.DefaultRate))}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p == http.ErrAbortHandler { // an export was cut off
				panic(p)
			} else if p != nil {
				o.Log.Error().Any("panic", p).Bytes("stack", debug.Stack()).Str("path", r.URL.Path).Msg("a request panicked")
				write(w, problem{Type: blank, Title: "Internal error", Status: http.StatusInternalServerError, Detail: "the log of the server has the reason"})
			}
		}()
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.URL.Path == Base+"/openapi.json" || r.URL.Path == healthPath {
			next.ServeHTTP(w, r)
			return
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(stream.AnswerWithin)) // where the server lets it
		if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Method == http.MethodPost && kind != "application/json" {
			// A form or a plain text is what a page of another site could have a browser send.
			write(w, problem{Type: blank, Title: "Unsupported media type", Status: http.StatusUnsupportedMediaType, Detail: "a body is application/json"})
			return
		}
		by, err := authenticate(o, doors, r)
		switch {
		case errors.Is(err, errBusy):
			write(w, busy)
			return
		case errors.Is(err, ops.ErrForbidden):
			write(w, problemOf(err))
			return
		case errors.Is(err, ops.ErrUnauthorized):
			w.Header().Set("WWW-Authenticate", "Bearer")
			write(w, problem{Type: urn + "ErrUnauthorized", Title: ops.ErrUnauthorized.Error(), Status: http.StatusUnauthorized, Detail: err.Error()})
			return
		case err != nil:
			o.Log.Error().Err(err).Msg("a token could not be looked up")
			write(w, problemOf(err))
			return
		}
		if wait := rates.take(by); wait > 0 {
			write(w, problem{Type: blank, Title: "Too many requests", Status: http.StatusTooManyRequests, Detail: "this caller sends more requests than it may", retryAfter: wait})
			return
		}
		leave, _ := places.take(by)
		if leave == nil {
			write(w, busy)
			return
		}
		defer leave()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, by)))
	})
}

var (
	busy    = problem{Type: blank, Title: "Busy", Status: http.StatusServiceUnavailable, Detail: "as many requests as are done at a time are under way", retryAfter: time.Second}
	errBusy = errors.New("too many look for their tokens")
)

// authenticate says who asks. As many are looked for at a time as requests are done; more wait a second.
func authenticate(o Options, doors chan struct{}, r *http.Request) (ops.Caller, error) {
	select {
	case doors <- struct{}{}:
		defer func() { <-doors }()
		return o.Authenticate(r)
	case <-time.After(time.Second):
		return ops.Caller{}, errBusy
	}
}

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
