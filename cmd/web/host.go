package web

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// healthEvery is how often the database is asked whether it answers, and healthTime how long it has for that.
const healthEvery, healthTime = time.Second, 3 * time.Second

// withHealth adds /healthz, for everybody: 200 while the database answers, and else 503.
func withHealth(next http.Handler, alive func(ctx context.Context) error) http.Handler {
	var mu sync.Mutex
	var at time.Time
	var last error
	look := func() error {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(at) >= healthEvery {
			ctx, cancel := context.WithTimeout(context.Background(), healthTime)
			defer cancel()
			last, at = alive(ctx), time.Now()
		}
		return last
	}
	mux := http.NewServeMux()
	mux.Handle("/", next)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		status, text := http.StatusOK, "ok\n"
		if look() != nil { // why stands in the log of the database; others may see this
			status, text = http.StatusServiceUnavailable, "the database does not answer\n"
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text) // whoever asked may be gone
	})
	return mux
}

// besidePages hands requests for the API on to it, below the path of the base URL or without that, and others to the pages.
func besidePages(base string, api, pages http.Handler) http.Handler {
	prefix := ""
	if u, err := url.Parse(base); err == nil { // the configuration has seen to it
		prefix = strings.TrimRight(u.Path, "/")
	}
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	mux.Handle("/api/", api)
	if prefix != "" {
		mux.Handle(prefix+"/api/", http.StripPrefix(prefix, api))
	}
	return mux
}
