package api

import (
	"cmp"
	"context"
	"errors"
	"mime"
	"net/http"
	"runtime/debug"
	"time"

	"prescient/prescient/internal/bound"
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
	rates := bound.NewRates[who](cmp.Or(o.Rate, door.DefaultRate))
	strangers := bound.NewStrangers()
	return http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		w := &begun{ResponseWriter: to}
		defer func() {
			if p := recover(); p == http.ErrAbortHandler { // an export was cut off
				panic(p)
			} else if p != nil {
				o.Log.Error().Any("panic", p).Bytes("stack", debug.Stack()).Str("path", r.URL.Path).Msg("a request panicked")
				if w.is { // what came is no whole answer, and is not to look like one
					panic(http.ErrAbortHandler)
				}
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
		is := bound.NewStranger(bound.Proxies(o.Proxies).Address(r), r.Header.Get("Authorization"))
		if !strangers.Wait(r.Context(), is, time.Now()) {
			o.Counts.Refused(bound.ByToken)
			write(w, problem{Type: blank, Title: "Too many requests", Status: http.StatusTooManyRequests, Detail: "too many tokens that are not good came from this address", retryAfter: time.Second})
			return
		}
		by, err := authenticate(o, doors, r)
		switch {
		case err == nil:
			strangers.Good(is)
		case errors.Is(err, ops.ErrUnauthorized):
			strangers.Bad(is)
		}
		switch {
		case errors.Is(err, errBusy):
			o.Counts.Refused(bound.ByPlace)
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
		if wait := rates.Take(whoIs(by), time.Now()); wait > 0 {
			o.Counts.Refused(bound.ByRate)
			write(w, problem{Type: blank, Title: "Too many requests", Status: http.StatusTooManyRequests, Detail: "this caller sends more requests than it may", retryAfter: wait})
			return
		}
		leave, _ := places.take(by)
		if leave == nil {
			o.Counts.Refused(bound.ByPlace)
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

// begun is an answer of which it is known whether some of it was sent.
type begun struct {
	http.ResponseWriter
	is bool
}

func (b *begun) WriteHeader(status int) {
	b.is = true
	b.ResponseWriter.WriteHeader(status)
}

func (b *begun) Write(text []byte) (int, error) {
	b.is = true
	return b.ResponseWriter.Write(text)
}

// Unwrap lets http.ResponseController through.
func (b *begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }

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
