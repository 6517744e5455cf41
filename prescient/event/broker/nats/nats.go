package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"prescient/prescient/event/broker"
)

const (
	place       = "{topic}"
	connectTime = 2 * time.Second
	pingTime    = 10 * time.Second // two pings without an answer, and the connection is made anew
	maxDelay    = 5 * time.Second  // between two attempts to connect
)

// Errors of JetStream that no later try changes.
const (
	errMessageTooLarge jetstream.ErrorCode = 10054
	errHeadersTooLarge jetstream.ErrorCode = 10097
)

// stream publishes to whatever streams have the subjects.
type stream struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	subject string                // with its place for the topic
	failure atomic.Pointer[error] // of the last attempt to connect
}

// Open returns a broker that publishes to JetStream, and begins to connect.
func Open(_ context.Context, o broker.Options) (broker.Broker, error) {
	address, err := broker.ParseAddress(o.URL, "nats", "tls")
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	settings, err := address.Settings("subject")
	switch {
	case err != nil:
		return nil, fmt.Errorf("nats: %w", err)
	case strings.Trim(address.Path, "/") != "":
		return nil, errors.New("nats: the URL has a path, which means nothing here")
	}
	subject, given := settings["subject"]
	if !given {
		subject = place
	}
	if err := checkSubject(strings.ReplaceAll(subject, place, "topic")); err != nil {
		return nil, fmt.Errorf("nats: the parameter subject: %w", err)
	}
	s := &stream{subject: subject}
	noted := nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
		if !errors.Is(err, nats.ErrNoServers) || s.failure.Load() == nil { // that one says less than the one before it
			s.failure.Store(&err)
		}
	})
	if s.conn, err = nats.Connect(servers(address), append(options(address, o), noted)...); err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	if s.js, err = jetstream.New(s.conn); err != nil {
		s.conn.Close()
		return nil, fmt.Errorf("nats: %w", err)
	}
	return s, nil
}

// servers lists the hosts as the client reads them. The user is not among them: the client shows its URLs in errors.
func servers(address broker.Address) string {
	var list []string
	for _, host := range address.Hosts {
		list = append(list, address.Scheme+"://"+host)
	}
	return strings.Join(list, ",")
}

func options(address broker.Address, o broker.Options) []nats.Option {
	list := []nats.Option{
		nats.Name("prescient"),
		nats.Timeout(connectTime),
		nats.PingInterval(pingTime),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(),
		nats.ReconnectBufSize(-1), // what waited there would be published after the forwarder has given it up
		nats.CustomReconnectDelay(func(attempts int) time.Duration {
			delay := min(maxDelay, 100*time.Millisecond<<min(attempts, 10))
			return delay/2 + rand.N(delay/2)
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.Log.Warn().Err(err).Msg("the connection to NATS is lost")
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) {
			o.Log.Info().Str("server", c.ConnectedUrlRedacted()).Msg("connected to NATS again")
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			o.Log.Warn().Err(err).Msg("NATS reports an error")
		}),
	}
	password, with := address.Password()
	switch {
	case with:
		list = append(list, nats.UserInfo(address.User.Username(), password))
	case address.User != nil:
		list = append(list, nats.Token(address.User.Username()))
	}
	return list
}

// Publish implements broker.Broker.
func (s *stream) Publish(ctx context.Context, m broker.Message) error {
	subject := strings.ReplaceAll(s.subject, place, m.Topic)
	if err := checkSubject(subject); err != nil {
		return fmt.Errorf("nats: %w", broker.Refused(err))
	}
	if !s.conn.IsConnected() { // what the client says before it has met a server is about headers
		why := cmp.Or(s.conn.LastError(), nats.ErrDisconnected)
		if last := s.failure.Load(); last != nil {
			why = *last
		}
		return fmt.Errorf("nats: not connected: %w", why)
	}
	header := make(nats.Header, len(m.Headers)+2)
	if m.ContentType != "" {
		header["Content-Type"] = []string{m.ContentType}
	}
	for _, h := range m.Headers {
		header[h.Name] = []string{h.Value}
	}
	header[nats.MsgIdHdr] = []string{broker.Printable(m.ID)}
	_, err := s.js.PublishMsg(ctx, &nats.Msg{Subject: subject, Header: header, Data: m.Body})
	if err != nil {
		return fmt.Errorf("nats: subject %s: %w", subject, s.judge(ctx, subject, err))
	}
	return nil
}

// judge wraps an error as refused where no later try changes it.
func (s *stream) judge(ctx context.Context, subject string, err error) error {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, nats.ErrBadSubject):
		return broker.Refused(err)
	case errors.As(err, &api) && (api.ErrorCode == errMessageTooLarge || api.ErrorCode == errHeadersTooLarge):
		return broker.Refused(err)
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		if _, asked := s.js.StreamNameBySubject(ctx, subject); errors.Is(asked, jetstream.ErrStreamNotFound) {
			return broker.Refused(errors.New("no stream has this subject"))
		}
	}
	return err
}

// checkSubject says what is wrong with a subject to publish to: the client and the server do not look at all of it.
func checkSubject(subject string) error {
	if strings.ContainsFunc(subject, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return fmt.Errorf("the subject %q has a space or a control character", subject)
	}
	for token := range strings.SplitSeq(subject, ".") {
		switch token {
		case "":
			return fmt.Errorf("the subject %q has an empty part", subject)
		case "*", ">":
			return fmt.Errorf("the subject %q has a wildcard", subject)
		}
	}
	return nil
}

// Close implements broker.Broker.
func (s *stream) Close() error {
	s.conn.Close()
	return nil
}
