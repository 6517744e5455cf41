package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	nethttp "net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"prescient/jobs/http"
	"prescient/prescient"
	"prescient/slots"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var secret = []byte("the secret of these tests")

// A receiver is an app that takes checks: what it does wrong is set in its fields.
type receiver struct {
	// verify says whether a signature is right; nil for as it should be.
	verify func(body []byte, signature string) bool
	// refuse answers a call that is not right; nil for as it should be.
	refuse nethttp.HandlerFunc
	// answer answers one that is; nil for 204.
	answer func(w nethttp.ResponseWriter, r *nethttp.Request, body []byte)
}

func (a receiver) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	right := http.Verify(secret, body, r.Header.Get(http.SignatureHeader), time.Now(), http.Tolerance)
	if a.verify != nil {
		right = a.verify(body, r.Header.Get(http.SignatureHeader))
	}
	switch {
	case !right && a.refuse != nil:
		a.refuse(w, r)
	case !right:
		w.WriteHeader(nethttp.StatusUnauthorized)
	case a.answer != nil:
		a.answer(w, r, body)
	default:
		w.WriteHeader(nethttp.StatusNoContent)
	}
}

func serve(t *testing.T, handler nethttp.Handler) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func options(t *testing.T, url string) Options {
	t.Helper()
	grid, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Endpoint: http.Options{URL: url, Secret: secret}, Grid: grid,
		Check: prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: `42 "check_count":0`}, JobExec: "unshipped", Payload: json.RawMessage(`{"note": "<b>&é"}`)}}
}

// run returns what is found, in the order in which it was told.
func run(t *testing.T, o Options) (all []Finding) {
	t.Helper()
	err := Run(t.Context(), o, func(f Finding) error {
		all = append(all, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wrong are the findings that are not ok, as "code severity", with what was said of them.
func wrong(all []Finding) (list, said string) {
	var codes []string
	for _, f := range all {
		if f.Severity != OK {
			codes = append(codes, fmt.Sprintf("%s %s", f.Code, f.Severity))
			said += f.Text + " → " + f.Do + "\n"
		}
	}
	return strings.Join(codes, ", "), said
}

// written answers with a status and a text.
func written(status int, text string) func(nethttp.ResponseWriter, *nethttp.Request, []byte) {
	return func(w nethttp.ResponseWriter, _ *nethttp.Request, _ []byte) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// once answers each Idempotency-Key in one way the first time, and in another from then on.
func once(first, then func(nethttp.ResponseWriter, *nethttp.Request, []byte)) func(nethttp.ResponseWriter, *nethttp.Request, []byte) {
	var known sync.Map
	return func(w nethttp.ResponseWriter, r *nethttp.Request, body []byte) {
		if _, is := known.LoadOrStore(r.Header.Get(http.IdempotencyKeyHeader), true); is {
			then(w, r, body)
			return
		}
		first(w, r, body)
	}
}

// limited settles so many calls.
func limited(most int32) func(nethttp.ResponseWriter, *nethttp.Request, []byte) {
	var calls atomic.Int32
	return func(w nethttp.ResponseWriter, _ *nethttp.Request, _ []byte) {
		if calls.Add(1) > most {
			w.WriteHeader(nethttp.StatusTooManyRequests)
			return
		}
		w.WriteHeader(nethttp.StatusNoContent)
	}
}

// signedAt is the time in a signature.
func signedAt(signature string) time.Time {
	_, rest, _ := strings.Cut(signature, "t=")
	digits, _, _ := strings.Cut(rest, ",")
	seconds, _ := strconv.ParseInt(digits, 10, 64)
	return time.Unix(seconds, 0)
}

func TestAnEndpointThatDoesAllAsItShouldIsOK(t *testing.T) {
	for _, test := range []struct {
		answer func(nethttp.ResponseWriter, *nethttp.Request, []byte)
		says   string
	}{
		{written(204, ""), "settled: the check ends"},
		{written(200, "null"), "settled: the check ends"},
		{written(200, `{"next_in": "2h"}`), "later: called again in the slot "},
	} {
		all := run(t, options(t, serve(t, receiver{answer: test.answer})))
		var codes []string
		for _, f := range all {
			codes = append(codes, f.Code)
		}
		if list, said := wrong(all); list != "" || !strings.HasPrefix(all[0].Text, test.says) {
			t.Errorf("%s; wrong: %s\n%s", all[0].Text, list, said)
		}
		if got := strings.Join(codes, " "); got != "signed again spaces large member version unsigned forged replayed changed" {
			t.Errorf("called: %s", got)
		}
	}
}

func TestWhatAnEndpointDoesWrongIsFound(t *testing.T) {
	settled, later := written(204, ""), written(200, `{"next_in": "2h"}`)
	for _, test := range []struct {
		about string
		app   receiver
		wrong string
		says  []string
	}{
		// signatures
		{"it never looks at the signature", receiver{verify: func([]byte, string) bool { return true }},
			"unsigned bad, forged bad, replayed bad, changed bad",
			[]string{"a call without a signature is taken (204): whoever knows the URL can make calls → answer 401", "whoever has seen a call can make others of it"}},
		{"it looks whether there is one", receiver{verify: func(_ []byte, signature string) bool { return signature != "" }},
			"forged bad, replayed bad, changed bad", []string{"a signature by another secret is taken (204)"}},
		{"it does not look at the time", receiver{verify: func(body []byte, signature string) bool {
			return http.Verify(secret, body, signature, signedAt(signature), http.Tolerance)
		}}, "replayed bad", []string{"a call with a signature of 1h ago is taken (204): whoever has seen a call can make it again for ever"}},
		{"it signs what it has read and written anew", receiver{verify: func(body []byte, signature string) bool {
			var job prescient.FutureJob
			if json.Unmarshal(body, &job) != nil {
				return false
			}
			anew, err := json.Marshal(job)
			return err == nil && http.Verify(secret, anew, signature, time.Now(), http.Tolerance)
		}}, "spaces bad, large bad, member bad", []string{"a body with blanks in it: answered 401 Unauthorized → compute the HMAC over the bytes that came in"}},
		{"it takes the signature apart by its places", receiver{verify: func(body []byte, signature string) bool {
			return strings.Count(signature, ",") == 1 && http.Verify(secret, body, signature, time.Now(), http.Tolerance)
		}}, "version bad", []string{"look for t= and v1= among the members"}},
		{"it fails over a wrong one", receiver{refuse: func(w nethttp.ResponseWriter, _ *nethttp.Request) { w.WriteHeader(500) }},
			"unsigned warn, forged warn, replayed warn, changed warn", []string{"answered 500 Internal Server Error; it is not refused in so many words"}},
		{"it says so in a 200", receiver{refuse: func(w nethttp.ResponseWriter, _ *nethttp.Request) { _, _ = io.WriteString(w, `{"error": "signature"}`) }},
			"unsigned warn, forged warn, replayed warn, changed warn", []string{`answered 200 with the unknown key "error"`}},
		{"it takes wrong ones for later", receiver{refuse: func(w nethttp.ResponseWriter, _ *nethttp.Request) { w.WriteHeader(202) }},
			"unsigned bad, forged bad, replayed bad, changed bad", []string{"a call without a signature is taken (202)"}},
		{"it tells what it wants", receiver{refuse: func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			w.WriteHeader(500)
			fmt.Fprintf(w, "not signed by %q", secret)
		}}, "unsigned warn, forged warn, replayed warn, changed warn", []string{`a call without a signature: answered 500 Internal Server Error: not signed by "***"`, `a signature by another secret: answered 500 Internal Server Error: not signed by "***"`}},
		{"it leads to where one signs in", receiver{refuse: func(w nethttp.ResponseWriter, r *nethttp.Request) {
			nethttp.Redirect(w, r, "/login", nethttp.StatusFound)
		}},
			"unsigned warn, forged warn, replayed warn, changed warn", []string{"answered 302 Found with a redirect to "}},

		// the same call again
		{"it refuses what it knows", receiver{answer: once(settled, written(409, "done already"))},
			"again bad", []string{"the same call again: answered 409 Conflict: done already; the first was answered → keep what was answered by Idempotency-Key"}},
		{"it settles what it did before", receiver{answer: once(later, settled)}, "again warn", []string{"the same call again is settled, where the first was later"}},
		{"it answers with other times", receiver{answer: once(later, written(200, `{"next_in": "4h"}`))}, "again warn", []string{"where the first said "}},

		// bodies
		{"it takes no large bodies", receiver{answer: func(w nethttp.ResponseWriter, _ *nethttp.Request, body []byte) {
			if len(body) > 32<<10 {
				w.WriteHeader(413)
				return
			}
			w.WriteHeader(204)
		}}, "large bad", []string{"a body of 64 KiB: answered 413 Request Entity Too Large → let the server"}},
		{"it wants no members but those it knows", receiver{answer: func(w nethttp.ResponseWriter, _ *nethttp.Request, body []byte) {
			decoder := json.NewDecoder(bytes.NewReader(body))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(new(prescient.FutureJob)); err != nil {
				nethttp.Error(w, err.Error(), 400)
				return
			}
			w.WriteHeader(204)
		}}, "member bad", []string{"skip members that are not known"}},

		// calls
		{"it wants fewer", receiver{answer: limited(1)}, "again not looked at, spaces not looked at, large not looked at, member not looked at, version not looked at", []string{"answered 429 Too Many Requests → call it again later"}},

		// answers; after them nothing else is called
		{"another secret", receiver{verify: func([]byte, string) bool { return false }}, "signed bad", []string{"answered 401 Unauthorized: a worker takes that for an error, calls again, and ends the check after 6 errors in a row → give the secret that the app has"}},
		{"a clock that is wrong", receiver{verify: func([]byte, string) bool { return false }, refuse: func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(nethttp.TimeFormat))
			w.WriteHeader(401)
		}}, "signed bad", []string{"; its clock is 1h0m"}},
		{"nothing there", receiver{answer: written(404, "no such order")}, "signed bad", []string{"answered 404 Not Found: no such order", "give --entity of one that is"}},
		{"gone", receiver{answer: written(410, "")}, "signed bad", []string{"answered 410 Gone: a worker takes that for an error, and ends the check at once, as failed → see whether the path is right"}},
		{"it wants no call now", receiver{answer: written(429, "")}, "signed bad", []string{"answered 429 Too Many Requests: a worker takes that for an error, calls again", "→ call it again later"}},
		{"a redirect", receiver{answer: func(w nethttp.ResponseWriter, r *nethttp.Request, _ []byte) {
			nethttp.Redirect(w, r, "/there", nethttp.StatusPermanentRedirect)
		}}, "signed bad",
			[]string{"answered 308 Permanent Redirect with a redirect to", "give the URL that it leads to"}},
		{"another method", receiver{answer: written(405, "")}, "signed bad", []string{"take POST"}},
		{"another type of the body", receiver{answer: written(415, "")}, "signed bad", []string{"take application/json"}},
		{"a failure", receiver{answer: written(500, "")}, "signed bad", []string{"see the log of the app"}},
		{"another status", receiver{answer: written(201, "null")}, "signed bad", []string{"answered 201 Created: null: a worker takes that for an error", "→ answer 204, or 200 with null"}},
		{"no body", receiver{answer: written(200, "")}, "signed bad", []string{"an empty body", "→ answer 204, or 200 with null"}},
		{"HTML", receiver{answer: written(200, "<html>")}, "signed bad", []string{"text that is not JSON"}},
		{"a number for a duration", receiver{answer: written(200, `{"next_in": 7200}`)}, "signed bad", []string{"next_in that is not a string"}},
		{"a time without a zone", receiver{answer: written(200, `{"next_check_at": "2026-03-01 13:00:00"}`)}, "signed bad", []string{"has no zone"}},
		{"an answer without end", receiver{answer: written(200, strings.Repeat(" ", 100_000))}, "signed bad", []string{"more than 65536 bytes"}},
		{"no answer", receiver{answer: func(nethttp.ResponseWriter, *nethttp.Request, []byte) { panic(nethttp.ErrAbortHandler) }}, "signed bad", []string{"no answer: ", "see whether the app runs"}},

		// answers that a worker takes, and ends the check by
		{"a time that is over", receiver{answer: written(200, `{"next_check_at": "1970-01-01T00:00:00Z"}`)}, "signed bad", []string{"the check ends as past_return: returned 1970-01-01T00:00:00Z"}},
		{"a time that is too far away", receiver{answer: written(200, `{"next_in": "9999h"}`)}, "signed bad", []string{"the check ends as beyond_horizon"}},
	} {
		list, said := wrong(run(t, options(t, serve(t, test.app))))
		if strings.Contains(said, string(secret)) {
			t.Errorf("%s: the secret is in\n%s", test.about, said)
		}
		if list != test.wrong {
			t.Errorf("%s: found %q; want %q\n%s", test.about, list, test.wrong, said)
		}
		for _, text := range test.says {
			if !strings.Contains(said, text) {
				t.Errorf("%s: no %q in\n%s", test.about, text, said)
			}
		}
	}
}

func TestOfAnAnswerThatIsNoneTheOtherCallsAreNotMade(t *testing.T) {
	calls := 0
	url := serve(t, receiver{answer: func(w nethttp.ResponseWriter, _ *nethttp.Request, _ []byte) {
		calls++
		w.WriteHeader(500)
	}})
	if all := run(t, options(t, url)); len(all) != 1 || calls != 1 {
		t.Errorf("%d calls, %+v", calls, all)
	}
}

func TestASlowAnswerIsAnErrorOnceItsTimeIsOver(t *testing.T) {
	o := options(t, serve(t, receiver{answer: func(_ nethttp.ResponseWriter, r *nethttp.Request, _ []byte) { <-r.Context().Done() }}))
	o.Guards.Timeout = 100 * time.Millisecond
	all := run(t, o)
	if list, said := wrong(all); list != "signed bad" || !strings.Contains(said, "timed out: a call may take 100ms: a worker takes that for an error") || !strings.Contains(said, "make it a long run") {
		t.Errorf("%s\n%s", list, said)
	}
}

func TestOnlyTheSameCallHasTheSameKey(t *testing.T) {
	var keys []string
	url := serve(t, receiver{answer: func(w nethttp.ResponseWriter, r *nethttp.Request, _ []byte) {
		keys = append(keys, r.Header.Get(http.IdempotencyKeyHeader))
		w.WriteHeader(204)
	}})
	run(t, options(t, url))
	different := make(map[string]bool)
	for _, key := range keys {
		different[key] = true
	}
	if len(keys) != 6 || keys[0] != keys[1] || len(different) != 5 {
		t.Errorf("%q", keys)
	}
	first := keys[0]
	keys = nil
	if run(t, options(t, url)); keys[0] == first {
		t.Error("a second run has the key of the first")
	}
}

func TestWithoutASecretNobodyIsRefused(t *testing.T) {
	o := options(t, serve(t, receiver{verify: func(_ []byte, signature string) bool { return signature == "" }}))
	o.Endpoint.Secret = nil
	if list, said := wrong(run(t, o)); list != "unsigned warn" || !strings.Contains(said, "whoever knows the URL can make calls → give a secret") {
		t.Errorf("%s\n%s", list, said)
	}
	o.Endpoint.Headers = map[string]string{"Authorization": "Bearer x"}
	if list, _ := wrong(run(t, o)); list != "unsigned not looked at" {
		t.Error(list)
	}
}

func TestWhatCannotBeCalledIsSaid(t *testing.T) {
	for url, want := range map[string]string{"": "URL is empty", "127.0.0.1": "want http:// or https://", "ftp://a/b": "want http or https", "http:///b": "no host"} {
		err := Run(t.Context(), options(t, url), func(f Finding) error { return fmt.Errorf("told %+v", f) })
		if !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", url, err, want)
		}
	}
	o := options(t, "http://127.0.0.1:1/")
	o.Check.JobExec = "not a name"
	if err := Run(t.Context(), o, nil); !errors.Is(err, prescient.ErrInvalid) {
		t.Error(err)
	}
	o = options(t, "http://127.0.0.1:1/")
	o.Grid = slots.Grid{}
	if err := Run(t.Context(), o, nil); !errors.Is(err, prescient.ErrInvalid) {
		t.Error(err)
	}
}

func TestAnEndedContextIsNoFinding(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	o := options(t, serve(t, receiver{answer: func(_ nethttp.ResponseWriter, r *nethttp.Request, _ []byte) {
		stop()
		<-r.Context().Done()
	}}))
	if err := Run(ctx, o, func(f Finding) error { return fmt.Errorf("told %+v", f) }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
