package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/brokertest"
)

func TestWebhookIsABroker(t *testing.T) {
	brokertest.Accept(t, func(t *testing.T) brokertest.Site {
		var mu sync.Mutex
		var arrived []broker.Message
		secret := []byte("0123456789abcdef")
		verifier, err := standardwebhooks.NewWebhookRaw(secret)
		if err != nil {
			t.Fatal(err)
		}
		receive := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			user, password, _ := r.BasicAuth()
			switch {
			case err != nil:
				return
			case user != "user" || password != "s3cret":
				t.Errorf("authorized as %s %s", user, password)
			case verifier.Verify(body, r.Header) != nil:
				t.Errorf("the signature of %s is wrong", r.Header.Get("Webhook-Id"))
			case r.RequestURI != "/events/an%2Forder?a=b":
				w.WriteHeader(http.StatusNotFound)
				io.WriteString(w, "no s3cret such topic")
				return
			}
			key, err := url.PathUnescape(r.Header.Get(broker.HeaderKey))
			if err != nil {
				t.Error(err)
			}
			m := broker.Message{ID: r.Header.Get("Idempotency-Key"), Key: key, ContentType: r.Header.Get("Content-Type"), Body: body}
			for name, values := range r.Header {
				m.Headers = append(m.Headers, broker.Header{Name: name, Value: values[0]})
			}
			mu.Lock()
			defer mu.Unlock()
			arrived = append(arrived, m)
		})
		gate := brokertest.NewGate()
		address := "127.0.0.1:0"
		var server *httptest.Server
		start := func() {
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			address = l.Addr().String()
			server = &httptest.Server{Listener: gate.Listener(l), Config: &http.Server{Handler: receive}}
			server.Start()
		}
		stop := func() {
			server.CloseClientConnections()
			server.Close()
		}
		start()
		t.Cleanup(func() { stop() })
		site := brokertest.Site{
			Open:    Open,
			Options: broker.Options{URL: "http://user:s3cret@" + address + "/events/{topic}?a=b", Secret: secret},
			Topic:   "an/order",
			Arrived: func(t *testing.T, n int) []broker.Message {
				mu.Lock()
				defer mu.Unlock()
				return arrived
			},
			Freeze: gate.Freeze, Thaw: gate.Thaw, Stop: stop, Start: start,
		}
		unknown, parent, control := site.Message("r1", "k", nil), site.Message("r2", "k", nil), site.Message("r3", "k", nil)
		unknown.Topic, parent.Topic, control.ContentType = "none", "..", "a\nb"
		site.Refused = map[string]broker.Message{"no such topic": unknown, "a topic that leads elsewhere": parent, "a header that HTTP lacks": control}
		return site
	})
}

// answering opens a broker on a server that gives one answer after the other, the last one for ever.
func answering(t *testing.T, secret string, answers ...func(w http.ResponseWriter, r *http.Request)) (b broker.Broker, calls *atomic.Int64) {
	t.Helper()
	calls = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[min(int(calls.Add(1)), len(answers))-1](w, r)
	}))
	t.Cleanup(server.Close)
	b, err := Open(t.Context(), broker.Options{URL: server.URL, Secret: []byte(secret), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b, calls
}

func status(code int, header ...string) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, "because\n", strings.Repeat("x", 1000))
	}
}

func TestStatusSaysWhatBecomesOfIt(t *testing.T) {
	for _, test := range []struct {
		code, calls int
		want        string
	}{
		// acknowledged
		{200, 1, ""}, {202, 1, ""}, {299, 1, ""},
		// tried again
		{401, 3, "answered 401"}, {403, 3, "answered 403"}, {408, 3, "answered 408"}, {425, 3, "answered 425"}, {429, 3, "answered 429"}, {500, 3, "answered 500"}, {503, 3, `answered 503 Service Unavailable: "because\nxxx`},
		// refused
		{301, 1, "refused for good"}, {304, 1, "refused for good"}, {308, 1, "redirects are not followed"},
		{400, 1, "refused for good"}, {404, 1, "refused for good"}, {410, 1, "refused for good"}, {413, 1, "refused for good"},
	} {
		b, calls := answering(t, "", status(test.code, "Location", "http://%zz"))
		err := b.Publish(t.Context(), broker.Message{ID: "a"})
		switch {
		case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%d: %v, want %q", test.code, err, test.want)
		case errors.Is(err, broker.ErrRefused) != (test.code >= 300 && test.calls == 1):
			t.Errorf("%d: %v", test.code, err)
		case calls.Load() != int64(test.calls):
			t.Errorf("%d: %d calls, want %d", test.code, calls.Load(), test.calls)
		case err != nil && len(err.Error()) > 400:
			t.Errorf("%d: an error of %d bytes", test.code, len(err.Error()))
		}
	}
}

func TestAReceiverThatRecoversHasTheEvent(t *testing.T) {
	b, calls := answering(t, "", status(503), status(200))
	if err := b.Publish(t.Context(), broker.Message{}); err != nil || calls.Load() != 2 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

func TestRetryAfterIsWaitedForWhereTheContextHasTheTime(t *testing.T) {
	b, calls := answering(t, "", status(429, "Retry-After", "1"), status(200))
	started := time.Now()
	if err := b.Publish(t.Context(), broker.Message{}); err != nil || calls.Load() != 2 || time.Since(started) < time.Second {
		t.Errorf("%v after %d calls and %s", err, calls.Load(), time.Since(started))
	}
	for _, header := range []string{"60", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)} {
		b, calls = answering(t, "", status(503, "Retry-After", header))
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
		started = time.Now()
		for range 2 { // the second is not even called
			if err := b.Publish(ctx, broker.Message{}); err == nil || !strings.Contains(err.Error(), "answered 503") || calls.Load() != 1 || time.Since(started) > 20*time.Second {
				t.Errorf("%v after %d calls and %s", err, calls.Load(), time.Since(started))
			}
		}
		cancel()
	}
}

func TestAHostThatFailsFiveTimesGetsNoCallForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing, calls := true, 0
		b, err := Open(t.Context(), broker.Options{URL: "http://host"})
		if err != nil {
			t.Fatal(err)
		}
		r := b.(*receiver)
		r.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			if calls++; failing {
				return nil, errors.New("no route")
			}
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				_, _ = far.Read(make([]byte, 4096))
				_, _ = io.WriteString(far, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			}()
			return near, nil
		}
		for range 4 {
			if err := b.Publish(t.Context(), broker.Message{}); err == nil || errors.Is(err, broker.ErrRefused) || !strings.Contains(err.Error(), "no route") {
				t.Errorf("%v", err) // the last ones got no call, and say why
			}
		}
		if calls != maxFailures {
			t.Errorf("%d calls, want %d", calls, maxFailures)
		}
		time.Sleep(openTime + time.Millisecond) // in a bubble, where it takes no time
		_ = b.Publish(t.Context(), broker.Message{})
		if calls != maxFailures+1 {
			t.Errorf("%d calls, want one more: the circuit is half open", calls)
		}
		failing = false
		time.Sleep(openTime + time.Millisecond)
		for range 3 {
			if err := b.Publish(t.Context(), broker.Message{}); err != nil {
				t.Error(err)
			}
		}
		b.Close()
	})
}

func TestRetryAfterHoldsForItsPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{url: &url.URL{Path: "/{topic}"}}
		r.quiet.ask("a", time.Minute, errors.New("answered 429"))
		r.quiet.ask("b", 0, nil)
		r.quiet.ask("c", 24*time.Hour, errors.New("answered 429"))
		if a, is := r.quiet.of("a"); !is || !strings.Contains(a.error().Error(), "2000-01-01T00:01:00") {
			t.Errorf("%t, %v", is, a.error())
		}
		if _, is := r.quiet.of("b"); is {
			t.Error("another topic waits, too")
		}
		time.Sleep(time.Minute)
		if _, is := r.quiet.of("a"); is {
			t.Error("it waits longer than it was asked to")
		}
		time.Sleep(longestQuiet)
		if _, is := r.quiet.of("c"); is {
			t.Error("it waits for a day")
		}
	})
}

func TestAHostThatAnswersIsNotDead(t *testing.T) {
	b, calls := answering(t, "", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") == "bad" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	for range maxFailures {
		if err := b.Publish(t.Context(), broker.Message{ID: "bad"}); err == nil || !strings.Contains(err.Error(), "answered 500") {
			t.Errorf("%v", err)
		}
	}
	if err := b.Publish(t.Context(), broker.Message{ID: "good"}); err != nil || calls.Load() != maxFailures*maxTries+1 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

func TestTheSecretMayBeInTheFormOfTheStandard(t *testing.T) {
	// The example of the specification.
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	b, calls := answering(t, secret, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := verifier.Verify(body, r.Header); err != nil {
			t.Error(err)
		}
	})
	if err := b.Publish(t.Context(), broker.Message{ID: "é", Body: []byte("{}")}); err != nil || calls.Load() != 1 {
		t.Error(err)
	}
}

func TestWrongOptionsAreSaidWithoutThem(t *testing.T) {
	for _, o := range []broker.Options{
		{URL: "ftp://user:s3cret@host"}, {URL: "http://user:s3cret@a,b"}, {URL: "http://user:s3cret@"}, {URL: "http://host", Secret: []byte("whsec_s3cret!")},
	} {
		if _, err := Open(t.Context(), o); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
