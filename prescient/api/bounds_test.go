package api

import (
	"net/http"
	"net/http/httptest"
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
