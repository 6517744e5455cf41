package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient/ops"
)

// timed is a writer that knows until when a reader has time.
type timed struct {
	*httptest.ResponseRecorder
	until []time.Time
}

func (t *timed) SetWriteDeadline(until time.Time) error {
	t.until = append(t.until, until)
	return nil
}

func TestAReaderHasSomeTimeForEachPart(t *testing.T) {
	to := &timed{ResponseRecorder: httptest.NewRecorder()}
	for range 2 {
		if _, err := (patient{to, func() error { return nil }}).Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	// Each part has its time, and what comes before the next has that of an answer.
	near := func(at time.Time, d time.Duration) bool {
		return time.Until(at) <= d && time.Until(at) > d-10*time.Second
	}
	if len(to.until) != 4 || !near(to.until[0], partWithin) || !near(to.until[1], answerWithin) || !near(to.until[2], partWithin) || to.Body.String() != "xx" {
		t.Errorf("%v, %q", to.until, to.Body)
	}
}

func TestACellIsNoFormula(t *testing.T) {
	for value, want := range map[string]string{`"a"`: "a", `"=1+1"`: "'=1+1", `"＝1"`: "'＝1", `"-"`: "'-", `"\t="`: "'\t'=", `-5`: "-5", `null`: "", `""`: "", `{"a":"=1"}`: `{"a":"=1"}`,
		`"a;=1+1; -2"`: "a;'=1+1; '-2", `"a\n=1"`: "a\n'=1", `"a; b-c;5"`: "a; b-c;5"} {
		if got := cellOf("x", []byte(value)); got != want {
			t.Errorf("%s: %q; want %q", value, got, want)
		}
	}
	for value, want := range map[string]string{`"=1"`: `"=1"`, `{"a":";=1;＝2; b;5","b":-1}`: `{"a":";\u003d1;\uff1d2; b;5","b":-1}`} {
		if got := cellOf("payload", []byte(value)); got != want {
			t.Errorf("a payload: %q", got)
		}
	}
}

// rowsOf are chunks of an export.
func rowsOf(chunks ...[]int) func(context.Context) ([]int, error) {
	return func(ctx context.Context) ([]int, error) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(chunks) == 0 {
			return nil, io.EOF
		}
		chunk := chunks[0]
		chunks = chunks[1:]
		return chunk, nil
	}
}

func TestAnExportEndsWhereItsTokenDoes(t *testing.T) {
	now := time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
	role, err := ops.Viewer, error(nil)
	authenticate := func(*http.Request) (ops.Caller, error) { return ops.Caller{Token: 7, Role: role}, err }
	still := every(lookAgain, func() time.Time { return now }, func() error { return stillIs(authenticate, nil, ops.Caller{Token: 7, Role: ops.Viewer}) })
	for _, test := range []struct {
		what string
		role ops.Role
		err  error
		then bool
	}{
		{"it is good", ops.Viewer, nil, true},
		{"it cannot be looked up", ops.Viewer, io.ErrUnexpectedEOF, true},
		{"it was revoked", ops.Viewer, ops.ErrUnauthorized, false},
		{"it has another role", ops.Admin, nil, false},
	} {
		role, err = test.role, test.err
		if still() != nil {
			t.Errorf("%s: it is looked at too often", test.what)
		}
		now = now.Add(lookAgain)
		to := httptest.NewRecorder()
		got := stream(t.Context(), to, "x", ops.JSONLines, rowsOf([]int{1}, []int{2}), still)
		if whole := got == nil && to.Body.String() == "1\n2\n"; whole != test.then || (to.Result().Trailer.Get(rowsTrailer) == "2") != test.then {
			t.Errorf("%s: %v, %q, %v", test.what, got, to.Body, to.Result().Trailer)
		}
		if !test.then && !strings.Contains(to.Body.String(), `{"problem":{"type":"urn:prescient:error:ErrUnauthorized"`) {
			t.Errorf("%s: %q", test.what, to.Body)
		}
	}
	// What is buffered for a slow reader does not go out either.
	now = now.Add(lookAgain)
	if n, err := (patient{httptest.NewRecorder(), still}).Write([]byte("x")); n != 0 || err == nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestAnExportIsCutOffAfterAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, n := time.Now(), 0
		got := stream(t.Context(), httptest.NewRecorder(), "x", ops.JSONLines, func(ctx context.Context) ([]int, error) {
			n++
			return []int{n}, sleep(ctx, time.Minute)
		}, func() error { return nil })
		if !errors.Is(got, context.DeadlineExceeded) || time.Since(began) != exportWithin || n < 60 {
			t.Errorf("%v after %s and %d chunks", got, time.Since(began), n)
		}
	})
}

func TestWhatPanickedInTheMiddleIsNoWholeAnswer(t *testing.T) {
	for _, begins := range []bool{false, true} {
		server := httptest.NewServer(guard(Options{Authenticate: func(*http.Request) (ops.Caller, error) { return ops.Caller{}, nil }}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if begins {
				_, _ = io.WriteString(w, "some of it")
			}
			panic("x")
		})))
		resp, err := server.Client().Get(server.URL)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if begins != (err != nil) || !begins && resp.StatusCode != http.StatusInternalServerError {
			t.Errorf("begun %v: %v, %v", begins, resp, err)
		}
		server.Close()
	}
}

// As many tokens are looked up at a time as requests are done; who comes then waits a second.
func TestManyAtTheDoorAreToldThatItIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		doors, o := make(chan struct{}, 1), Options{Authenticate: func(*http.Request) (ops.Caller, error) {
			time.Sleep(3 * time.Second)
			return ops.Caller{Token: 1}, nil
		}}
		first := make(chan error)
		go func() {
			_, err := authenticate(o, doors, nil)
			first <- err
		}()
		synctest.Wait()
		began := time.Now()
		if _, err := authenticate(o, doors, nil); !errors.Is(err, errBusy) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		if _, err := authenticate(o, doors, nil); err != nil {
			t.Errorf("the place is not free again: %v", err)
		}
	})
}
