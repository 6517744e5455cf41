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
	"prescient/prescient/ops/door"
)

// statementTime is after how long the server ends a statement of serve: longer than the longest operation takes.
const statementTime = 70 * time.Second

// patience is how long a client may take: to shake hands and for its headers, for all of a request, for the answer, and until the next. How long it may
// take for an answer the API says itself.
type patience struct{ header, body, answer, idle time.Duration }

func usual() patience {
	return patience{header: 5 * time.Second, body: time.Minute, answer: 2 * time.Minute, idle: 2 * time.Minute}
}

const (
	// mostHeader is how long the headers of a request may be: a few cookies.
	mostHeader = 16 << 10
	// mostStreams are the requests of one connection at a time, where net/http lets 250; one caller has a place for 16 by default. Of those that are sent
	// and reset at once net/http queues four times as many, and then closes the connection.
	mostStreams = 64
	// mostUnread is what one connection and one of its requests may send before it is read, where net/http takes a MiB of each connection.
	mostUnread = 256 << 10
)

// newServer has a client take no more than it may.
func newServer(handler http.Handler, may patience) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: may.header, ReadTimeout: may.body, WriteTimeout: may.answer, IdleTimeout: may.idle, MaxHeaderBytes: mostHeader,
		// One that takes no byte of any answer goes after half a minute: the time for an answer ends requests alone, and not their connection.
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: mostStreams, MaxReceiveBufferPerConnection: mostUnread, MaxReceiveBufferPerStream: mostUnread, WriteByteTimeout: 30 * time.Second}}
}

// listen serves until ctx ends, and then has what is under way end for worker.stop_grace.
func listen(ctx context.Context, s *program.Session, listener net.Listener, cert *certificate, handler http.Handler, may patience, counts *door.Counts) error {
	base, breakOff := context.WithCancel(context.WithoutCancel(ctx))
	defer breakOff()
	connections := door.NewConnections(listener, s.Config.Serve.Connections, s.Config.Serve.Proxies, counts, s.Log)
	server := newServer(handler, may)
	server.BaseContext, server.ConnState = func(net.Listener) context.Context { return base }, connections.Changed
	server.ErrorLog = stdlog.New(debugLog{s.Log}, "", 0)
	ended := make(chan error, 1)
	go func() {
		if cert == nil {
			ended <- server.Serve(connections)
			return
		}
		server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: cert.get}
		ended <- server.ServeTLS(connections, "", "")
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
