package http

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"math"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"prescient/prescient"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var job = prescient.FutureJob{
	EntityName: "order", EntityKey: "42", JobExec: "order-unshipped", Tag: "first",
	DueAt:        time.Date(2026, 3, 1, 12, 50, 0, 1000, time.UTC),
	FirstCheckAt: time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC),
	NextCheckAt:  time.Date(2026, 3, 1, 13, 15, 0, 0, time.UTC),
	CheckCount:   1,
	Payload:      json.RawMessage(`{"note": "<b>&"}`),
	Revision:     1<<63 + 1,
	InsertedAt:   time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC),
}

// receiver starts a server that is closed at the end of the test. It has read the body before it answers; before that
// it would not notice that a caller is gone.
func receiver(t *testing.T, answer nethttp.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// endpoint makes an endpoint whose connections are closed at the end of the test.
func endpoint(t *testing.T, options Options) *Endpoint {
	t.Helper()
	endpoint, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(endpoint.CloseIdle)
	return endpoint
}

// answering returns an endpoint whose receiver always answers this.
func answering(t *testing.T, status int, body string) *Endpoint {
	t.Helper()
	return endpoint(t, Options{URL: receiver(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}).URL})
}

func TestCallIsAPostOfTheJobAsJSON(t *testing.T) {
	secret := []byte("secret")
	var got *nethttp.Request
	var body []byte
	server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(nethttp.StatusNoContent)
	})
	e := endpoint(t, Options{
		URL:     strings.Replace(server.URL, "http://", "http://user:pa55@", 1) + "/checks/a%2Fb?token=t0k3n",
		Headers: map[string]string{"x-app": "shop", "host": "app.internal", "user-agent": "shop/1"},
		Secret:  secret,
	})
	if next, err := e.Check(t.Context(), job); next != nil || err != nil {
		t.Fatal(next, err)
	}

	if got.Method != nethttp.MethodPost || got.RequestURI != "/checks/a%2Fb?token=t0k3n" {
		t.Errorf("called as %s %s", got.Method, got.RequestURI)
	}
	if user, password, _ := got.BasicAuth(); user != "user" || password != "pa55" {
		t.Errorf("authorized as %s %s", user, password)
	}
	if got.Host != "app.internal" {
		t.Errorf("host is %s", got.Host)
	}
	for name, want := range map[string]string{
		"Content-Type":         "application/json",
		"Accept":               "application/json",
		"User-Agent":           "shop/1",
		"X-App":                "shop",
		"X-Prescient-Job-Exec": "order-unshipped",
		"Idempotency-Key":      job.Key().String() + "-1772355600000000-1772369400000001-1",
	} {
		if values := got.Header[name]; len(values) != 1 || values[0] != want {
			t.Errorf("header %s is %q, want %q", name, values, want)
		}
	}
	if !Verify(secret, body, got.Header.Get("X-Prescient-Signature"), time.Now(), Tolerance) {
		t.Errorf("signature %q is not that of the body", got.Header.Get("X-Prescient-Signature"))
	}

	var columns map[string]any
	if err := json.Unmarshal(body, &columns); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"entity_name": "order", "entity_key": "42", "job_exec": "order-unshipped", "tag": "first",
		"due_at":         "2026-03-01T12:50:00.000001Z",
		"first_check_at": "2026-03-01T13:00:00Z",
		"next_check_at":  "2026-03-01T13:15:00Z",
		"check_count":    1.0, "error_count": 0.0, "total_ms": 0.0,
		"revision":    "9223372036854775809",
		"inserted_at": "2026-03-01T09:00:00Z",
	} {
		if columns[name] != want {
			t.Errorf("%s is %v, want %v", name, columns[name], want)
		}
	}
	if payload, _ := columns["payload"].(map[string]any); payload["note"] != "<b>&" {
		t.Errorf("payload is %v", columns["payload"])
	}
}

func TestCallWithoutASecretIsNotSigned(t *testing.T) {
	signed := make(chan bool, 1)
	server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		_, has := r.Header[nethttp.CanonicalHeaderKey(SignatureHeader)]
		signed <- has
		w.WriteHeader(nethttp.StatusNoContent)
	})
	if _, err := endpoint(t, Options{URL: server.URL}).Check(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if <-signed {
		t.Error("a signature without a secret")
	}
}

func TestSecretIsCopied(t *testing.T) {
	secret := []byte("secret")
	e := endpoint(t, Options{URL: "http://app", Secret: secret})
	clear(secret)
	if string(e.secret) != "secret" {
		t.Errorf("the secret has become %q", e.secret)
	}
}

func TestSettled(t *testing.T) {
	for _, e := range []*Endpoint{
		answering(t, nethttp.StatusNoContent, ""),
		answering(t, nethttp.StatusOK, "null"),
		answering(t, nethttp.StatusOK, "null\n"),
	} {
		if next, err := e.Check(t.Context(), job); next != nil || err != nil {
			t.Errorf("%v, %v; want nil, nil", next, err)
		}
	}
}

func TestNextCheckAt(t *testing.T) {
	e := answering(t, nethttp.StatusOK, `{"next_check_at": "2026-03-01T17:00:00+01:00"}`)
	next, err := e.Check(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 3, 1, 16, 0, 0, 0, time.UTC); next == nil || *next != want {
		t.Errorf("%v, want %v", next, want)
	}
}

func TestNextInCountsFromWhenTheAnswerWasRead(t *testing.T) {
	var answered time.Time
	server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		answered = time.Now()
		io.WriteString(w, `{"next_in": "2h"}`)
	})
	next, err := endpoint(t, Options{URL: server.URL}).Check(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if from := next.Add(-2 * time.Hour); from.Before(answered) || from.After(time.Now()) {
		t.Errorf("counted from %v; answered at %v", from, answered)
	}
}

// A worker whose machine has another time: its slots, next_in, and the time in the signature go by the database's.
func TestTimesAreThoseOfTheDatabase(t *testing.T) {
	for _, off := range []time.Duration{-3 * time.Hour, -10 * time.Minute, 10 * time.Minute, 365 * 24 * time.Hour} {
		called := job
		called.CalledAt = time.Now().Add(-off).UTC()
		secret, signed := []byte("secret"), false
		server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
			body, _ := io.ReadAll(r.Body)
			signed = Verify(secret, body, r.Header.Get(SignatureHeader), called.CalledAt, time.Second) &&
				strings.Contains(string(body), `"called_at":"`+called.CalledAt.Format(time.RFC3339Nano)+`"`)
			io.WriteString(w, `{"next_in": "2h"}`)
		})
		next, err := endpoint(t, Options{URL: server.URL, Secret: secret}).Check(t.Context(), called)
		if err != nil {
			t.Fatal(err)
		}
		if wait := next.Sub(called.CalledAt); wait < 2*time.Hour || wait > 2*time.Hour+30*time.Second {
			t.Errorf("a clock that is %s ahead: next in %s, want 2h", off, wait)
		}
		if !signed {
			t.Errorf("a clock that is %s ahead: the body and its signature have another time", off)
		}
	}
}

func TestAnyOtherStatusIsAnError(t *testing.T) {
	for _, test := range []struct {
		status     int
		body, want string
	}{
		{201, `null`, "answered 201 Created: null"},
		{202, "", "answered 202 Accepted"},
		{206, `null`, "answered 206 Partial Content: null"},
		{304, "", "answered 304 Not Modified"},
		{400, "no such\r\n\torder\x00\x1b[31m", "answered 400 Bad Request: no such order [31m"},
		{404, "<h1>Not\u202e Found</h1>", "answered 404 Not Found: <h1>Not Found</h1>"},
		{409, `{"next_in": "2h"}`, `answered 409 Conflict: {"next_in": "2h"}`},
		{429, "", "answered 429 Too Many Requests"},
		{500, "\xff\xfe", "answered 500 Internal Server Error: \ufffd\ufffd"},
		{503, strings.Repeat("ö", 300), "answered 503 Service Unavailable: " + strings.Repeat("ö", maxExcerpt-1) + "…"},
		{799, "", "answered 799"},
	} {
		e := answering(t, test.status, test.body)
		next, err := e.Check(t.Context(), job)
		if next != nil || err == nil {
			t.Errorf("%d: %v, %v", test.status, next, err)
			continue
		}
		if want := "POST " + e.String() + ": " + test.want; err.Error() != want {
			t.Errorf("%d: %q\nwant %q", test.status, err, want)
		}
	}
}

// What a status says of another try, the call being made at 13:15 by the database's clock.
func TestAStatusSaysWhetherToTryAgainAndWhen(t *testing.T) {
	called := job
	called.CalledAt = job.NextCheckAt
	const plainly, stated, never = "as after any error", "when it says", "never"
	const most = math.MaxInt64 / time.Second * time.Second
	const strange = "answered 503 Service Unavailable, with a Retry-After that is neither seconds nor a date of HTTP"
	for _, test := range []struct {
		status      int
		after, body string
		again       string
		in          time.Duration
		says        string
	}{
		{429, "120", "slowly", stated, 2 * time.Minute, "answered 429 Too Many Requests, try again in 2m: slowly"},
		{503, "1", "", stated, time.Second, "answered 503 Service Unavailable, try again in 1s"},
		{503, "Sun, 01 Mar 2026 14:15:00 GMT", "", stated, time.Hour, "answered 503 Service Unavailable, try again in "},
		{503, "Sunday, 01-Mar-26 14:15:00 GMT", "", stated, time.Hour, "answered 503 Service Unavailable, try again in "},
		{500, "7200", "", stated, 2 * time.Hour, "answered 500 Internal Server Error, try again in 2h"},
		{202, "7200", "", stated, 2 * time.Hour, "answered 202 Accepted, try again in 2h"},
		{503, "0", "", stated, 0, "answered 503 Service Unavailable, try again in the next slot"},
		{503, "Thu, 01 Jan 1970 00:00:00 GMT", "", stated, time.Unix(0, 0).Sub(called.CalledAt), "answered 503 Service Unavailable, try again in the next slot"},
		{503, "9223372036", "", stated, most, "answered 503 Service Unavailable, try again in 2562047h47m16s"},
		{503, strings.Repeat("9", 400), "", stated, most, "answered 503 Service Unavailable, try again in 2562047h47m16s"},
		{503, "", "", plainly, 0, "answered 503 Service Unavailable"},
		{503, "-1", "", plainly, 0, strange},
		{503, "1.5", "", plainly, 0, strange},
		{503, "NaN", "", plainly, 0, strange},
		{503, "2026-03-01T14:15:00Z", "no", plainly, 0, strange + ": no"},
		{404, "", "", plainly, 0, "answered 404 Not Found"},
		{410, "", "the order was deleted", never, 0, "answered 410 Gone: the order was deleted"},
		{410, "60", "", never, 0, "answered 410 Gone"},
	} {
		e := endpoint(t, Options{URL: receiver(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			if test.after != "" {
				w.Header().Set("Retry-After", test.after)
			}
			w.WriteHeader(test.status)
			io.WriteString(w, test.body)
		}).URL})
		next, err := e.Check(t.Context(), called)
		if err == nil || next != nil {
			t.Errorf("%d, %.40q: %v, %v", test.status, test.after, next, err)
			continue
		}
		says, found := strings.CutPrefix(err.Error(), "POST "+e.String()+": "+test.says)
		if !found || says != "" && !strings.HasSuffix(test.says, " ") {
			t.Errorf("%d, %.40q: %v\nwant %s", test.status, test.after, err, test.says)
		}
		again := plainly
		in, is := prescient.RetryIn(err)
		if is {
			again = stated
		}
		if errors.Is(err, prescient.ErrFinal) {
			again = never
		}
		if again != test.again || (in-test.in).Abs() > time.Minute {
			t.Errorf("%d, %.40q: to be tried again %s, in %s; want %s, %s", test.status, test.after, again, in, test.again, test.in)
		}
	}
}

func TestBadAnswerIsAnErrorWithTheReceiversName(t *testing.T) {
	e := answering(t, nethttp.StatusOK, `{"next_in": "2d"}`)
	_, err := e.Check(t.Context(), job)
	want := "POST " + e.String() + `: answered 200 with next_in "2d", which is no duration`
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s…", err, want)
	}
}

func TestJobThatIsNoJSONIsNotSent(t *testing.T) {
	e := endpoint(t, Options{URL: "http://127.0.0.1:1"})
	bad := job
	bad.Payload = json.RawMessage(`{`)
	_, err := e.Check(t.Context(), bad)
	var syntax *json.MarshalerError
	if !errors.As(err, &syntax) {
		t.Error(err)
	}
}
