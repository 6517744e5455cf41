package stream

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient/internal/store"
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
	if len(to.until) != 4 || !near(to.until[0], partWithin) || !near(to.until[1], AnswerWithin) || !near(to.until[2], partWithin) || to.Body.String() != "xx" {
		t.Errorf("%v, %q", to.until, to.Body)
	}
}

// What is buffered for a slow reader does not go out where the reader may not have it any more.
func TestNothingGoesOutToWhoMayNotHaveIt(t *testing.T) {
	to := httptest.NewRecorder()
	if n, err := (patient{to, func() error { return errors.New("revoked") }}).Write([]byte("x")); n != 0 || err == nil || to.Body.Len() != 0 {
		t.Errorf("%d, %v, %q", n, err, to.Body)
	}
}

func TestAnExportIsCutOffAfterAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, n := time.Now(), 0
		next := func(ctx context.Context) ([]int, error) {
			n++
			return []int{n}, store.Sleep(ctx, time.Minute)
		}
		got := Write(t.Context(), httptest.NewRecorder(), Export[int]{ID: "x", As: ops.JSONLines, Next: next, Still: func() error { return nil }, Problem: func(error) any { return nil }})
		if !errors.Is(got, context.DeadlineExceeded) || time.Since(began) != exportWithin || n < 60 {
			t.Errorf("%v after %s and %d chunks", got, time.Since(began), n)
		}
	})
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
