package http

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is far more than anything here takes; a test that needs it all has failed.
const patience = 30 * time.Second

func TestRedirectIsNotFollowed(t *testing.T) {
	followed := receiver(t, func(nethttp.ResponseWriter, *nethttp.Request) { t.Error("followed") })
	for _, test := range []struct{ location, to string }{
		{followed.URL + "/path?token=t0k3n", followed.URL},
		{"https://user:t0k3n@app.example/#t0k3n", "https://app.example"},
		{"//other.example:8080/t0k3n", "http://other.example:8080"},
		{"mailto:t0k3n@app.example", "a location without a host"},
		{"http://%t0k3n", "a location without a host"},
		{"http://[t0k3n", "a location without a host"},
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
				w.Header().Set("Location", test.location)
				w.WriteHeader(status)
			})
			_, err := endpoint(t, Options{URL: server.URL}).Check(t.Context(), job)
			want := fmt.Sprintf("POST %s: answered %d %s with a redirect to %s: redirects are not followed",
				server.URL, status, nethttp.StatusText(status), test.to)
			if err == nil || err.Error() != want {
				t.Errorf("%v\nwant %s", err, want)
			}
		}
	}
}

func TestRedirectLoopIsOneCall(t *testing.T) {
	calls := 0
	server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		calls++
		nethttp.Redirect(w, r, r.URL.Path, nethttp.StatusTemporaryRedirect)
	})
	for _, client := range []*nethttp.Client{nil, {CheckRedirect: func(*nethttp.Request, []*nethttp.Request) error { return nil }}} {
		calls = 0
		_, err := endpoint(t, Options{URL: server.URL, Client: client}).Check(t.Context(), job)
		if calls != 1 || err == nil || !strings.Contains(err.Error(), "redirect to "+server.URL) {
			t.Errorf("%d calls, %v", calls, err)
		}
	}
	nethttp.DefaultTransport.(*nethttp.Transport).CloseIdleConnections()
}

// around sees the status of each answer that a transport has.
type around struct {
	nethttp.RoundTripper
	seen *[]int
}

func (a around) RoundTrip(request *nethttp.Request) (*nethttp.Response, error) {
	response, err := a.RoundTripper.RoundTrip(request)
	if err == nil {
		*a.seen = append(*a.seen, response.StatusCode)
	}
	return response, err
}

// What is around the calls sees each answer, a redirect too, whoever's transport it is.
func TestWhatIsAroundCallsSeesTheirAnswers(t *testing.T) {
	for _, client := range []*nethttp.Client{nil, {}, {Transport: new(nethttp.Transport)}} {
		var seen []int
		for _, status := range []int{204, 307, 503} {
			server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
				w.Header().Set("Location", "/")
				w.WriteHeader(status)
			})
			e := endpoint(t, Options{URL: server.URL, Client: client, Around: func(next nethttp.RoundTripper) nethttp.RoundTripper { return around{next, &seen} }})
			if _, err := e.Check(t.Context(), job); (err == nil) != (status == 204) {
				t.Errorf("%d: %v", status, err)
			}
			if client != nil {
				client.CloseIdleConnections()
			}
		}
		if !slices.Equal(seen, []int{204, 307, 503}) {
			t.Errorf("%d were seen", seen)
		}
	}
}

func TestRefusedConnectionIsAnError(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	_, err := endpoint(t, Options{URL: server.URL + "/?token=t0k3n"}).Check(t.Context(), job)
	want := "POST " + server.URL + ": no answer: dial tcp " + server.Listener.Addr().String() + ": connect: connection refused"
	if !errors.Is(err, syscall.ECONNREFUSED) || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestCertificateOfAnotherAuthorityIsAnError(t *testing.T) {
	server := httptest.NewUnstartedServer(nethttp.NotFoundHandler())
	server.Config.ErrorLog = receiver(t, nil).Config.ErrorLog
	server.StartTLS()
	t.Cleanup(server.Close)

	_, err := endpoint(t, Options{URL: server.URL + "/?token=t0k3n"}).Check(t.Context(), job)
	var unknown x509.UnknownAuthorityError
	if !errors.As(err, &unknown) || strings.Contains(err.Error(), "t0k3n") {
		t.Error(err)
	}

	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	trusting := &nethttp.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(trusting.CloseIdleConnections)
	_, err = endpoint(t, Options{URL: server.URL, Client: &nethttp.Client{Transport: trusting}}).Check(t.Context(), job)
	if err == nil || !strings.Contains(err.Error(), "answered 404") {
		t.Errorf("with a client that trusts it: %v", err)
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	for about, answer := range map[string]func(nethttp.ResponseWriter){
		"no answer":       func(nethttp.ResponseWriter) {},
		"no body":         func(w nethttp.ResponseWriter) { w.WriteHeader(nethttp.StatusOK) },
		"half an answer":  func(w nethttp.ResponseWriter) { io.WriteString(w, "nu") },
		"half an error":   func(w nethttp.ResponseWriter) { w.WriteHeader(500); io.WriteString(w, "half") },
		"half a redirect": func(w nethttp.ResponseWriter) { w.Header().Set("Location", "/"); w.WriteHeader(302) },
	} {
		t.Run(about, func(t *testing.T) {
			reached := make(chan struct{})
			server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
				answer(w)
				if about != "no answer" {
					w.(nethttp.Flusher).Flush()
				}
				close(reached)
				<-r.Context().Done() // the connection is closed
			})
			ctx, cancel := context.WithCancelCause(t.Context())
			stopped := errors.New("stopped")
			go func() {
				<-reached
				cancel(stopped)
			}()
			next, err := endpoint(t, Options{URL: server.URL}).Check(ctx, job)
			if next != nil || err == nil {
				t.Fatal(next, err)
			}
			if !errors.Is(err, stopped) && !strings.Contains(err.Error(), "answered") {
				t.Error(err)
			}
		})
	}
}

func TestTimeoutIsTold(t *testing.T) {
	server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := endpoint(t, Options{URL: server.URL}).Check(ctx, job)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), ": no answer after ") {
		t.Error(err)
	}
}

// An answer that comes byte by byte, never late for the next, does not outlast the timeout of the call.
func TestSlowDripEndsWithTheTimeout(t *testing.T) {
	gone := make(chan int, 1)
	server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		drip := time.NewTicker(5 * time.Millisecond)
		defer drip.Stop()
		for n := 0; ; n++ {
			select {
			case <-drip.C:
				_, _ = io.WriteString(w, " ") // nobody may be there any more
				w.(nethttp.Flusher).Flush()
			case <-r.Context().Done():
				gone <- n
				return
			}
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := endpoint(t, Options{URL: server.URL}).Check(ctx, job)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if n := <-gone; n == 0 {
		t.Error("nothing was sent")
	}
}

// endless writes until nobody reads any more, and reports how much it wrote.
func endless(w nethttp.ResponseWriter, written chan<- int) {
	block := []byte(strings.Repeat(" ", 1<<10))
	total := 0
	for total < 1<<30 {
		n, err := w.Write(block)
		total += n
		if err != nil {
			break
		}
	}
	written <- total
}

func TestLongAnswerIsNotRead(t *testing.T) {
	for _, status := range []int{nethttp.StatusOK, nethttp.StatusBadGateway} {
		written := make(chan int, 1)
		server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
			w.WriteHeader(status)
			endless(w, written)
		})
		e := endpoint(t, Options{URL: server.URL})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := e.Check(t.Context(), job)
		runtime.ReadMemStats(&after)

		if want := fmt.Sprintf("answered %d", status); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
		if status == nethttp.StatusOK && !strings.HasSuffix(err.Error(), "more than 65536 bytes") {
			t.Error(err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
			t.Errorf("%d bytes of memory for an answer of 1 GiB", took)
		}
		select {
		case total := <-written:
			if total > 1<<28 {
				t.Errorf("%d bytes went over the wire", total)
			}
		case <-time.After(patience):
			t.Error("the connection was left open")
		}
	}
}

func TestLongestAnswerIsRead(t *testing.T) {
	exact := answering(t, nethttp.StatusOK, "null"+strings.Repeat(" ", 6))
	for max, accepted := range map[int64]bool{10: true, 9: false} {
		e := endpoint(t, Options{URL: exact.url.String(), MaxBody: max})
		if _, err := e.Check(t.Context(), job); (err == nil) != accepted {
			t.Errorf("10 bytes where %d are allowed: %v", max, err)
		}
	}
}

// bare starts a server that answers the first call of every connection with the same bytes and leaves it open.
func bare(t *testing.T, answer string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				reader := bufio.NewReader(conn)
				if request, err := nethttp.ReadRequest(reader); err == nil {
					io.Copy(io.Discard, request.Body)
				}
				io.WriteString(conn, answer)
				io.Copy(io.Discard, reader) // until the caller closes it
			})
		}
	})
	t.Cleanup(func() { listener.Close(); open.Wait() })
	return "http://" + listener.Addr().String()
}

func TestAnswerThatIsNoHTTPIsAnError(t *testing.T) {
	for about, answer := range map[string]string{
		"another protocol":    "220 mail.example ESMTP " + strings.Repeat("x", 3000) + "\r\n",
		"endless headers":     "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20),
		"switching protocols": "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello",
	} {
		t.Run(about, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err := endpoint(t, Options{URL: bare(t, answer)}).Check(ctx, job)
			if err == nil || ctx.Err() != nil {
				t.Fatal(err)
			}
			if len(err.Error()) > 600 {
				t.Errorf("%d bytes of text: %s", len(err.Error()), err)
			}
		})
	}
}

func TestBodyThatBreaksOffIsAnError(t *testing.T) {
	server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Length", "10")
		io.WriteString(w, "null")
	})
	next, err := endpoint(t, Options{URL: server.URL}).Check(t.Context(), job)
	if next != nil || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "broke off after 4 bytes") {
		t.Error(next, err)
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	for _, answer := range []nethttp.HandlerFunc{
		func(w nethttp.ResponseWriter, _ *nethttp.Request) { w.WriteHeader(204) },
		func(w nethttp.ResponseWriter, _ *nethttp.Request) { io.WriteString(w, "null") },
		func(w nethttp.ResponseWriter, _ *nethttp.Request) { io.WriteString(w, `{"next_in": 1}`) },
		func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			nethttp.Error(w, "no", nethttp.StatusServiceUnavailable)
		},
		func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			w.Header().Set("Location", "/other")
			nethttp.Error(w, "moved", nethttp.StatusFound)
		},
	} {
		var mu sync.Mutex
		peers := map[string]bool{}
		server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
			mu.Lock()
			peers[r.RemoteAddr] = true
			mu.Unlock()
			answer(w, r)
		})
		e := endpoint(t, Options{URL: server.URL})
		for range 5 {
			e.Check(t.Context(), job)
		}
		if len(peers) != 1 {
			t.Errorf("5 calls used %d connections", len(peers))
		}
	}
}

func TestKeptConnectionThatWasClosedIsReplaced(t *testing.T) {
	calls := make(chan string, 10)
	server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		calls <- r.Header.Get(IdempotencyKeyHeader)
		w.WriteHeader(nethttp.StatusNoContent)
	})
	e := endpoint(t, Options{URL: server.URL})
	for range 3 {
		if _, err := e.Check(t.Context(), job); err != nil {
			t.Error(err)
		}
		server.CloseClientConnections()
	}
	if len(calls) != 3 {
		t.Errorf("%d calls", len(calls))
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) { io.WriteString(w, "null") })
	e := endpoint(t, Options{URL: server.URL, Secret: []byte("secret"), Headers: map[string]string{"X-App": "shop"}})
	var calls sync.WaitGroup
	for range 16 {
		calls.Go(func() {
			for range 20 {
				if next, err := e.Check(t.Context(), job); next != nil || err != nil {
					t.Error(next, err)
				}
			}
		})
	}
	calls.Wait()
}
