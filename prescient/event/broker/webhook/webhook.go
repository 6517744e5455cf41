package webhook

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sony/gobreaker/v2"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"prescient/prescient/event/broker"
)

const (
	requestTime = 10 * time.Second // from the dial to the end of the answer
	maxTries    = 3                // within one Publish
	maxFailures = 5                // without an answer, in a row, until the circuit opens
	openTime    = 5 * time.Second  // how long it stays so
)

// receiver is a URL that events are posted to. Its circuit is that of its one host.
type receiver struct {
	url       *url.URL // without user
	user      *url.Userinfo
	signer    *standardwebhooks.Webhook // nil where nothing is signed
	transport *http.Transport
	circuit   *gobreaker.CircuitBreaker[time.Duration]
	failure   atomic.Pointer[error] // why it gave no answer last
	quiet     quiet
	hidden    *strings.Replacer
	closed    context.Context
	close     context.CancelFunc
}

// Open returns a broker that posts to a URL. Nothing is sent yet.
func Open(_ context.Context, o broker.Options) (broker.Broker, error) {
	_, u, err := broker.ParseOne(o.URL, "http", "https")
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	signer, err := signerOf(o.Secret)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	r := &receiver{url: u, user: u.User, signer: signer, transport: newTransport(), hidden: hider(u.User)}
	u.User = nil
	r.closed, r.close = context.WithCancel(context.Background())
	r.circuit = gobreaker.NewCircuitBreaker[time.Duration](gobreaker.Settings{
		Name:         u.Host,
		Timeout:      openTime,
		ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= maxFailures },
		IsSuccessful: func(err error) bool { return !errors.Is(err, errNoAnswer) }, // a host that says 500 is not dead
		IsExcluded:   func(err error) bool { return errors.Is(err, context.Canceled) },
		OnStateChange: func(host string, from, to gobreaker.State) {
			switch {
			case from == gobreaker.StateClosed:
				o.Log.Warn().Str("host", host).Msg("a receiver of events does not answer")
			case to == gobreaker.StateClosed:
				o.Log.Info().Str("host", host).Msg("a receiver of events answers again")
			}
		},
	})
	return r, nil
}

// signerOf returns who signs with a secret, nil for none.
func signerOf(secret []byte) (*standardwebhooks.Webhook, error) {
	if len(secret) == 0 {
		return nil, nil
	}
	if encoded, found := strings.CutPrefix(string(secret), "whsec_"); found {
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(key) == 0 {
			return nil, errors.New("the secret begins with whsec_, and is no base64 behind that")
		}
		return standardwebhooks.NewWebhookRaw(key)
	}
	return standardwebhooks.NewWebhookRaw(append([]byte(nil), secret...))
}

// newTransport keeps a connection for each of the messages that a forwarder has under way.
func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: requestTime, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    requestTime,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // an answer is a line long
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// hider takes the credentials out of what a receiver says, should it repeat them.
func hider(user *url.Userinfo) *strings.Replacer {
	if user == nil {
		return strings.NewReplacer()
	}
	password, _ := user.Password()
	if password == "" {
		password = user.Username() // some write a token there
	}
	if password == "" {
		return strings.NewReplacer()
	}
	return strings.NewReplacer(password, "…", url.UserPassword("", password).String()[1:], "…", basic(user), "…")
}

func basic(user *url.Userinfo) string {
	password, _ := user.Password()
	return base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
}

// Close implements broker.Broker.
func (r *receiver) Close() error {
	r.close()
	r.transport.CloseIdleConnections()
	return nil
}

// Publish implements broker.Broker.
func (r *receiver) Publish(ctx context.Context, m broker.Message) error {
	if r.closed.Err() != nil {
		return errors.New("webhook: closed")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.closed, cancel)()
	if err := r.try(ctx, m); err != nil {
		return fmt.Errorf("webhook: POST %s://%s: %w", r.url.Scheme, r.url.Host, err)
	}
	return nil
}

// try posts a message until it is acknowledged or refused, or may not be tried any more.
func (r *receiver) try(ctx context.Context, m broker.Message) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.Multiplier, wait.RandomizationFactor = 200*time.Millisecond, 2, 0.5
	topic := m.Topic
	if !r.takesTopic() {
		topic = "" // what it asks of one it asks of all
	}
	for try := 1; ; try++ {
		if a, is := r.quiet.of(topic); is && !pause(ctx, a.left(time.Now())) {
			return a.error()
		}
		wanted, err := r.circuit.Execute(func() (time.Duration, error) { return r.post(ctx, m) })
		r.quiet.ask(topic, wanted, err)
		switch {
		case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
			return r.dead()
		case errors.Is(err, errNoAnswer):
			r.failure.Store(&err)
		}
		switch {
		case err == nil, errors.Is(err, broker.ErrRefused), ctx.Err() != nil:
			return err
		case try == maxTries:
			return fmt.Errorf("%d tries: %w", try, err)
		case !pause(ctx, max(wanted, wait.NextBackOff())):
			return err
		}
	}
}

// dead is the error of a host that gets no call, with why it gave no answer.
func (r *receiver) dead() error {
	why := errNoAnswer
	if last := r.failure.Load(); last != nil {
		why = *last
	}
	return fmt.Errorf("%w, %d times in a row; it gets no call for %s", why, maxFailures, openTime)
}

// pause waits, unless that is too long or more than the context leaves. It says whether it has waited.
func pause(ctx context.Context, wait time.Duration) bool {
	if deadline, bounded := ctx.Deadline(); wait > requestTime || bounded && time.Until(deadline) <= wait {
		return false
	}
	next := time.NewTimer(wait)
	defer next.Stop()
	select {
	case <-next.C:
		return true
	case <-ctx.Done():
		return false
	}
}
