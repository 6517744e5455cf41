package stream

import (
	"net/http/httptest"
	"testing"
	"time"
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
		if _, err := (patient{to}).Write([]byte("x")); err != nil {
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

func TestACellIsNoFormula(t *testing.T) {
	for value, want := range map[string]string{`"a"`: "a", `"=1+1"`: "'=1+1", `"＝1"`: "'＝1", `"-"`: "'-", `"\t="`: "'\t=", `-5`: "-5", `null`: "", `""`: "", `{"a":"=1"}`: `{"a":"=1"}`} {
		if got := cellOf("x", []byte(value)); got != want {
			t.Errorf("%s: %q; want %q", value, got, want)
		}
	}
	if got := cellOf("payload", []byte(`"=1"`)); got != `"=1"` {
		t.Errorf("a payload: %q", got)
	}
}
