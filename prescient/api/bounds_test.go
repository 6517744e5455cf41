package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"prescient/prescient/ops"
)

// The guard asks nobody of more than it may.
func TestGuessesAreNotLookedUp(t *testing.T) {
	var looked atomic.Int64
	handler := guard(Options{Authenticate: func(*http.Request) (ops.Caller, error) {
		looked.Add(1)
		return ops.Caller{}, ops.ErrUnauthorized
	}}, http.NotFoundHandler())
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		var refused atomic.Int64
		for range 1000 {
			all.Go(func() {
				r, to := httptest.NewRequest(http.MethodGet, Base+"/checks/pending", nil), httptest.NewRecorder()
				r.Header.Set("Authorization", "Bearer guess")
				if handler.ServeHTTP(to, r); to.Code == http.StatusTooManyRequests {
					refused.Add(1)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		if n := looked.Load(); n > 200 || n+refused.Load() != 1000 {
			t.Errorf("%d were looked up, %d refused", n, refused.Load())
		}
	})
}

// Who guesses behind a proxy of ours holds up nobody else behind it; who is none does not pass for another by naming one.
func TestWhoGuessesIsTheOneThatAProxyNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := guard(Options{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.7/32")}, Authenticate: func(*http.Request) (ops.Caller, error) {
			return ops.Caller{}, ops.ErrUnauthorized
		}}, http.NotFoundHandler())
		ask := func(remote, forwarded string) int {
			r, to := httptest.NewRequest(http.MethodGet, Base+"/checks/pending", nil), httptest.NewRecorder()
			r.RemoteAddr = remote
			r.Header.Set("X-Forwarded-For", forwarded)
			r.Header.Set("Authorization", "Bearer guess")
			handler.ServeHTTP(to, r)
			return to.Code
		}
		guess := func(remote string, named func(i int) string) (held bool) {
			var all sync.WaitGroup
			var refused atomic.Int64
			for i := range 300 {
				all.Go(func() {
					if ask(remote, named(i)) == http.StatusTooManyRequests {
						refused.Add(1)
					}
				})
				synctest.Wait()
			}
			all.Wait()
			return refused.Load() > 0
		}
		one := func(int) string { return "192.0.2.1, 198.51.100.1" }
		each := func(i int) string { return fmt.Sprintf("198.51.100.%d", 100+i%100) }
		if !guess("10.0.0.7:1", one) || guess("10.0.0.7:1", each) || !guess("10.0.0.8:1", each) {
			t.Error("addresses are not those that the proxy names")
		}
	})
}
