package heartbeat

import (
	"bytes"
	"context"
	"errors"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
)

// service is one that is told, and answers as a test says.
type service struct {
	*httptest.Server
	asked chan string // path and query of each request
}

func serve(t *testing.T, answer http.HandlerFunc) *service {
	t.Helper()
	s := &service{asked: make(chan string, 1000)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked <- r.Method + " " + r.URL.RequestURI()
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// listen has each connection answered with a text, and returns the URL.
func listen(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4<<10))
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

// wants wants requests in this order, and no more.
func (s *service) wants(t *testing.T, want ...string) {
	t.Helper()
	for _, w := range want {
		select {
		case got := <-s.asked:
			if got != w {
				t.Errorf("asked %s, want %s", got, w)
			}
		case <-time.After(time.Minute):
			t.Fatalf("nobody asked %s", w)
		}
	}
	select {
	case got := <-s.asked:
		t.Errorf("asked %s, too", got)
	default:
	}
}

// log is a log to look into.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newSender(t *testing.T, o Options) (*Sender, *log) {
	t.Helper()
	var l log
	o.Log = zerolog.New(&l)
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.wait = time.Millisecond
	t.Cleanup(func() { closeIn(s, 0) })
	return s, &l
}

func closeIn(s *Sender, d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	s.Close(ctx)
}

func all(url string) URLs {
	return URLs{Start: url + "/s3cret/start", Success: url + "/s3cret", Failure: url + "/s3cret?status=down"}
}

func TestASignalGoesToItsURL(t *testing.T) {
	web := serve(t, nil)
	s, log := newSender(t, Options{Heartbeats: map[string]URLs{"nightly": all(web.URL), "plain": {Success: web.URL + "/plain"}}, Slots: "plain"})
	s.Tell("nightly", Start)
	s.Ended("nightly", prescient.Done)
	s.Ended("nightly", prescient.Crashed)
	s.Ended("nightly", prescient.Superseded)
	closeIn(s, 20*time.Second)
	web.wants(t, "GET /s3cret/start", "GET /s3cret", "GET /s3cret?status=down")
	if log.String() != "" {
		t.Errorf("logged %s", log)
	}
	s, log = newSender(t, Options{Heartbeats: map[string]URLs{"bare": {Success: web.URL}, "plain": {Success: web.URL + "/plain"}}, Slots: "plain"})
	s.Tell("bare", Start)
	s.Tell("bare", Failure)
	s.Tell("", Success)
	s.Tell("another", Success)
	s.Tell("another", Failure)
	for range 3 { // within 10 s
		s.Served(time.Now())
	}
	closeIn(s, 20*time.Second)
	s.Tell("bare", Success)
	web.wants(t, "GET /plain")
	if n := strings.Count(log.String(), `"heartbeat":"another"`); n != 1 || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("an unknown name is logged %d times: %s", n, log)
	}
	var none *Sender
	none.Tell("nightly", Start)
	none.Served(time.Now())
	closeIn(none, 0)
}

// A schedule cannot keep quiet what raises the alarm where no slot is served.
func TestNoScheduleIsToldOfInTheNameOfSlots(t *testing.T) {
	web := serve(t, nil)
	s, log := newSender(t, Options{Heartbeats: map[string]URLs{"slots": all(web.URL)}, Slots: "slots"})
	s.Tell("slots", Success)
	s.Tell("slots", Start)
	s.Ended("slots", prescient.Done)
	s.Served(time.Now())
	closeIn(s, 20*time.Second)
	web.wants(t, "GET /s3cret")
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "heartbeats.slots") {
		t.Errorf("logged %s", text)
	}
}

// Nothing that a service does is in the way of who tells, nor of the other services; and no URL is in the log.
func TestABadServiceIsInNobodysWay(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	elsewhere := serve(t, nil)
	refused := httptest.NewServer(nil)
	refused.Close()
	untrusted := httptest.NewUnstartedServer(nil)
	untrusted.Config.ErrorLog = stdlog.New(io.Discard, "", 0)
	untrusted.StartTLS()
	defer untrusted.Close()
	for name, bad := range map[string]struct {
		url, says string
	}{
		"hangs": {serve(t, func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}).URL, "no answer within 200ms"},
		"refuses":   {refused.URL, "connection refused"},
		"redirects": {serve(t, http.RedirectHandler(elsewhere.URL+"/s3cret", http.StatusFound).ServeHTTP).URL, "answered 302: redirects are not followed"},
		"misdirects": {serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://s3cret:x/%zz")
			w.WriteHeader(http.StatusFound)
		}).URL, "answered 302"},
		"babbles":         {listen(t, "s3cret is no HTTP\r\n\r\n"), "no answer of HTTP"},
		"has half a head": {listen(t, "HTTP/1.1 200 OK\r\ns3cret /s3cret\r\n\r\n"), "no answer of HTTP"},
		"hangs up":        {listen(t, ""), "the connection failed"},
		"has no TLS":      {strings.Replace(listen(t, "s3cret is no TLS"), "http:", "https:", 1), "TLS failed"},
		"is not trusted":  {untrusted.URL, "its certificate is not accepted"},
		"is gone":         {serve(t, http.NotFound).URL, "answered 404"},
		"is ill":          {serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }).URL, "answered 502"},
	} {
		t.Run(name, func(t *testing.T) {
			good := serve(t, nil)
			s, log := newSender(t, Options{Heartbeats: map[string]URLs{"bad": all(bad.url), "good": all(good.URL)}})
			s.client.within = 200 * time.Millisecond
			began := time.Now()
			for range 10 {
				s.Tell("bad", Start)
				s.Tell("bad", Failure)
			}
			s.Tell("good", Success)
			if took := time.Since(began); took > 3*time.Second { // 20 answers would take 4
				t.Errorf("telling took %s", took)
			}
			good.wants(t, "GET /s3cret")
			closeIn(s, 30*time.Second)
			if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, bad.says) || strings.Contains(text, "s3cret") {
				t.Errorf("logged %s; want one line: %s", text, bad.says)
			}
		})
	}
	elsewhere.wants(t)
}

func TestAnAnswerWithoutEndIsAnAnswer(t *testing.T) {
	web := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<10)); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	})
	s, log := newSender(t, Options{Heartbeats: map[string]URLs{"nightly": all(web.URL)}})
	s.Tell("nightly", Start)
	s.Tell("nightly", Success)
	closeIn(s, 20*time.Second)
	web.wants(t, "GET /s3cret/start", "GET /s3cret")
	if log.String() != "" {
		t.Errorf("logged %s", log)
	}
}

// What fails for good is tried once until it succeeds, and logged once.
func TestAServiceThatIsDeadIsTriedOnce(t *testing.T) {
	var mu sync.Mutex
	status := http.StatusServiceUnavailable
	web := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.WriteHeader(status)
	})
	s, log := newSender(t, Options{Heartbeats: map[string]URLs{"nightly": all(web.URL)}})
	s.Tell("nightly", Start)
	web.wants(t, "GET /s3cret/start", "GET /s3cret/start", "GET /s3cret/start")
	s.Tell("nightly", Failure)
	web.wants(t, "GET /s3cret?status=down")
	mu.Lock()
	status = http.StatusOK
	mu.Unlock()
	s.Tell("nightly", Success)
	closeIn(s, 20*time.Second)
	web.wants(t, "GET /s3cret")
	if text := log.String(); strings.Count(text, "could not be sent") != 1 || !strings.Contains(text, `"failed":2`) {
		t.Errorf("logged %s", text)
	}
}

// A process that ends does not wait for a service for longer than it was told to, and says what it left.
func TestTheEndWaitsForServicesForAWhile(t *testing.T) {
	web := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s, log := newSender(t, Options{Heartbeats: map[string]URLs{"nightly": all(web.URL)}})
	s.Tell("nightly", Start)
	s.Tell("nightly", Success)
	web.wants(t, "GET /s3cret/start")
	began := time.Now()
	closeIn(s, 50*time.Millisecond)
	if took := time.Since(began); took < 50*time.Millisecond || took > 5*time.Second {
		t.Errorf("the end took %s", took)
	}
	if !strings.Contains(log.String(), `"signals":2`) {
		t.Errorf("logged %s", log)
	}
}

func TestAFullQueueDropsTheOldest(t *testing.T) {
	release := make(chan struct{})
	web := serve(t, func(http.ResponseWriter, *http.Request) { <-release })
	s, log := newSender(t, Options{Heartbeats: map[string]URLs{"nightly": all(web.URL)}})
	s.Tell("nightly", Start)
	web.wants(t, "GET /s3cret/start") // and waits
	for range mostWaiting {
		s.Tell("nightly", Success)
		s.Tell("nightly", Failure)
	}
	if n := s.Dropped(); n != mostWaiting {
		t.Errorf("dropped %d of %d, where %d may wait", n, 2*mostWaiting, mostWaiting)
	}
	if n := strings.Count(log.String(), "the oldest are dropped"); n != 1 {
		t.Errorf("logged %d times: %s", n, log)
	}
	close(release)
}

func TestWrongHeartbeatsAreRefused(t *testing.T) {
	many := make(map[string]URLs)
	for i := range Most + 1 {
		many[strings.Repeat("a", i+1)] = all("http://h1")
	}
	for name, o := range map[string]Options{
		"a name that is none":    {Heartbeats: map[string]URLs{"a b": all("http://h1")}},
		"no success":             {Heartbeats: map[string]URLs{"a": {Start: "http://h1/s3cret"}}},
		"another scheme":         {Heartbeats: map[string]URLs{"a": all("ftp://h1")}},
		"no host":                {Heartbeats: map[string]URLs{"a": {Success: "http:///s3cret"}}},
		"no URL":                 {Heartbeats: map[string]URLs{"a": {Success: "http://h1/%zz s3cret"}}},
		"slots of another":       {Heartbeats: map[string]URLs{"a": all("http://h1")}, Slots: "b"},
		"more than there may be": {Heartbeats: many},
	} {
		if _, err := New(o); !errors.Is(err, prescient.ErrInvalid) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
