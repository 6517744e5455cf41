package web

import (
	"context"
	"crypto/tls"
	stdlog "log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/rs/zerolog"

	"prescient/cmd/internal/program"
)

// statementTime is after how long the server ends a statement of serve: longer than the longest operation takes.
const statementTime = 70 * time.Second

// Bounds of what a client may take. How long it may take for an answer the API says itself.
const (
	headerTime = 5 * time.Second
	bodyTime   = time.Minute
	answerTime = 2 * time.Minute
	idleTime   = 2 * time.Minute
	mostHeader = 32 << 10
)

// listen serves until ctx ends, and then has what is under way end for worker.stop_grace.
func listen(ctx context.Context, s *program.Session, listener net.Listener, cert *certificate, handler http.Handler) error {
	base, breakOff := context.WithCancel(context.WithoutCancel(ctx))
	defer breakOff()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, WriteTimeout: answerTime, IdleTimeout: idleTime, MaxHeaderBytes: mostHeader,
		BaseContext: func(net.Listener) context.Context { return base }, ErrorLog: stdlog.New(debugLog{s.Log}, "", 0)}
	ended := make(chan error, 1)
	go func() {
		if cert == nil {
			ended <- server.Serve(listener)
			return
		}
		server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: cert.get}
		ended <- server.ServeTLS(listener, "", "")
	}()
	s.Log.Info().Str("address", listener.Addr().String()).Bool("tls", cert != nil).Msg("serving")
	s.Notify(daemon.SdNotifyReady)
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.Log.Info().Stringer("grace", s.Config.Worker.StopGrace).Msg("stopping: no request is taken any more, what is under way may end")
	s.Notify(daemon.SdNotifyStopping)
	ending, cancel := context.WithTimeout(base, s.Config.Worker.StopGrace)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		breakOff()
		s.Log.Warn().Msg("requests were broken off that took too long")
		_ = server.Close() // nobody is left to be told
	}
	<-ended
	s.Log.Info().Msg("stopped")
	return nil
}

// debugLog takes what net/http has to say of connections, such as handshakes that failed.
type debugLog struct{ log zerolog.Logger }

func (d debugLog) Write(line []byte) (int, error) {
	d.log.Debug().Msg(strings.TrimSpace(string(line)))
	return len(line), nil
}

// logged has each request logged at debug: without its query, in which names stand, and without its headers, in which the token does.
func logged(log zerolog.Logger, address func(*http.Request) string, next http.Handler) http.Handler {
	if log.GetLevel() > zerolog.DebugLevel {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, seen := time.Now(), &seenStatus{w, http.StatusOK}
		next.ServeHTTP(seen, r)
		log.Debug().Str("method", r.Method).Str("path", r.URL.Path).Int("status", seen.status).Str("from", address(r)).Dur("took_ms", time.Since(began)).Msg("request")
	})
}

// seenStatus keeps the status of an answer.
type seenStatus struct {
	http.ResponseWriter
	status int
}

func (s *seenStatus) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController through.
func (s *seenStatus) Unwrap() http.ResponseWriter { return s.ResponseWriter }
