package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
	"prescient/prescient/metrics"
)

// serveHTTP serves /metrics and /healthz until it is told to stop: alive says whether the process does its work, answers whether the
// database does. An address that is empty serves nothing.
func serveHTTP(ctx context.Context, s *program.Session, address string, told prometheus.Collector, alive, answers func() error) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, &exit.Error{Code: exit.CodeFailure, Err: fmt.Errorf("metrics.listen: %w", err)}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics.Handler(told))
	mux.HandleFunc("GET /healthz", func(out http.ResponseWriter, _ *http.Request) {
		status, text := health(ctx, alive, answers)
		out.Header().Set("Content-Type", "text/plain; charset=utf-8")
		out.WriteHeader(status)
		_, _ = io.WriteString(out, text+"\n") // whoever asked may be gone
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.Log.Error().Err(err).Msg("metrics are not served any more")
		}
	}()
	s.Log.Info().Str("address", listener.Addr().String()).Msg("serving /metrics and /healthz")
	return func() {
		// What still asks has had its time: the worker is gone.
		_ = server.Close()
		<-done
	}, nil
}

// health says whether a worker does its work: it is not about to stop, its loop goes round, and the database answers.
// Why the database does not stands in the log, not here: others may see it.
func health(ctx context.Context, alive, answers func() error) (status int, text string) {
	if ctx.Err() != nil {
		return http.StatusServiceUnavailable, "stopping"
	}
	if err := alive(); err != nil {
		return http.StatusServiceUnavailable, err.Error()
	}
	if err := answers(); err != nil {
		return http.StatusServiceUnavailable, "the database does not answer"
	}
	return http.StatusOK, "ok"
}
