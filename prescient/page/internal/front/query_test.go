package front

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"prescient/prescient"
)

func TestTimesAreReadAsLinksAndFieldsHaveThem(t *testing.T) {
	want := time.Date(2026, 11, 20, 13, 15, 0, 0, time.UTC)
	for _, text := range []string{"2026-11-20T13:15:00Z", "2026-11-20T14:15:00+01:00", "2026-11-20T13:15", "2026-11-20T13:15:00", "2026-11-20 13:15", "2026-11-20 13:15:00"} {
		q := NewQuery(url.Values{"at": {text}})
		if got := q.Time("at"); !got.Equal(want) || got.Location() != time.UTC || q.Err() != nil {
			t.Errorf("%q: %s, %v", text, got, q.Err())
		}
	}
	for _, text := range []string{"tomorrow", "13:15", "2026-13-01", "<script>", "0000-01-01", "0999-12-31T23:59", "9999-12-31T23:59:59-14:00", "1000-01-01T00:00:00+14:00", "10000-01-01"} {
		q := NewQuery(url.Values{"at": {text}})
		if q.Time("at"); !errors.Is(q.Err(), prescient.ErrInvalid) {
			t.Errorf("%q: %v", text, q.Err())
		}
	}
	if q := NewQuery(nil); !q.Time("at").IsZero() || q.Int("n", 7, 1, 9) != 7 || q.Err() != nil {
		t.Error(q.Err())
	}
}

func TestNumbersAreBounded(t *testing.T) {
	for text, good := range map[string]bool{"1": true, "9": true, "0": false, "10": false, "x": false, "99999999999999999999": false} {
		q := NewQuery(url.Values{"n": {text}})
		q.Int("n", 5, 1, 9)
		if (q.Err() == nil) != good {
			t.Errorf("%s: %v", text, q.Err())
		}
	}
}

func TestAQueryGoesOnWithSomethingElse(t *testing.T) {
	q := NewQuery(url.Values{"a": {"1"}, "b": {"2"}})
	pairs := q.With("b", "3", "c", "4", "a", "")
	got := make(url.Values)
	for i := 0; i < len(pairs); i += 2 {
		got.Add(pairs[i], pairs[i+1])
	}
	if got.Encode() != "a=&b=3&c=4" || q.Text("b") != "2" {
		t.Errorf("%v, %v", got, q)
	}
}

func TestAViewIsLookedAtAgainWhenASlotHasCome(t *testing.T) {
	at := time.Date(2026, 11, 20, 13, 14, 50, 0, time.UTC)
	for resolution, want := range map[time.Duration]time.Duration{15 * time.Minute: 13 * time.Second, 10 * time.Second: 13 * time.Second, 0: time.Minute} {
		if got := UntilSlot(at, resolution); got != want {
			t.Errorf("%s: %s; want %s", resolution, got, want)
		}
	}
}
