package timeline_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/schedule/timeline"
	"prescient/slots"
)

func grid(t testing.TB, resolution time.Duration) slots.Grid {
	t.Helper()
	g, err := slots.NewGrid(resolution)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestTwoOccurrencesInASlotAreTooFine(t *testing.T) {
	from := instant(t, "2026-01-01T00:00:00Z")
	for _, test := range []struct {
		crontabs   string
		resolution time.Duration
		says       string // empty for fine enough
	}{
		{"*/15 * * * *", 15 * time.Minute, ""},
		{"*/5 * * * *", 15 * time.Minute, "2026-01-01T00:05:00Z and 2026-01-01T00:10:00Z are in the same slot, 2026-01-01T00:15:00Z"},
		{"* * * * * *", time.Second, ""},
		{"@every 14m", 15 * time.Minute, "2026-01-01T03:16:00Z and 2026-01-01T03:30:00Z are in the same slot, 2026-01-01T03:30:00Z"},
		{"@every 15m", 15 * time.Minute, ""},
		{"0 0 * * *|1 0 * * *", 15 * time.Minute, ""}, // a minute apart, in two slots
		{"1 0 * * *|2 0 * * *", 15 * time.Minute, "slots of 15m0s"},
		{"0 0 * * *|0 0 * * *", 24 * time.Hour, ""},
		{"@at 2026-05-01T00:00:01.25Z|@at 2026-05-01T00:00:01.5Z", time.Second, ""}, // both are 2 s past
		{"@at 2026-05-01T00:00:01Z", 15 * time.Minute, ""},
		{"0 0 29 2 *", 24 * time.Hour, ""},
	} {
		err := parse(t, "", strings.Split(test.crontabs, "|")...).TooFine(grid(t, test.resolution), from, 0)
		if fine := test.says == ""; fine != (err == nil) || !fine && (!errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s at %s: %v; want %q", test.crontabs, test.resolution, err, test.says)
		}
	}
}

func TestTooFineGoesByWhenSomethingIsDue(t *testing.T) {
	from := instant(t, "2026-01-01T00:00:00Z")
	for crontabs, fine := range map[string]bool{"1,14 * * * *": true, "14,16 * * * *": false, "0,15 * * * *": true, "@every 14m": false} {
		if err := parse(t, "", crontabs).TooFine(grid(t, 15*time.Minute), from, 2*time.Minute); (err == nil) != fine {
			t.Errorf("%s, two minutes later: %v", crontabs, err)
		}
	}
}

// Of what is too fine only later, a thousand occurrences are looked at.
func TestTooFineLooksAtAThousand(t *testing.T) {
	from := instant(t, "2026-01-01T00:00:00Z")
	for n, want := range map[int]bool{998: true, 999: false} { // as many hourly ones come before the two
		second := from.Add(time.Duration(n) * time.Hour).Add(time.Second)
		l := parse(t, "", "@hourly", "@at "+second.Format(time.RFC3339), "@at "+second.Add(time.Second).Format(time.RFC3339))
		if err := l.TooFine(grid(t, time.Minute), from, 0); (err != nil) != want {
			t.Errorf("behind %d: %v", n, err)
		}
	}
}

func TestAfterIsNextOneByOne(t *testing.T) {
	l := parse(t, "Australia/Lord_Howe", "15 2 * * *", "*/45 * * * *", "@every 7h", "@at 2026-10-03T15:30:00Z", "@at 2026-10-03T15:30:00.25Z")
	at, n := instant(t, "2026-10-03T12:00:00Z"), 0
	for got := range l.After(at) {
		want, ok := l.Next(at)
		if !ok || !got.Equal(want) {
			t.Fatalf("%s comes after %s; want %s", got, at, want)
		}
		at = got
		if n++; n == 200 {
			break
		}
	}
	for at := range parse(t, "", "@at 0").After(at) {
		t.Errorf("%s is past", at)
	}
}

func TestAZoneIsSaid(t *testing.T) {
	for name, want := range map[string]string{"": "UTC", "UTC": "UTC", "Europe/Berlin": "Europe/Berlin"} {
		if got := parse(t, name, "@daily").Zone().String(); got != want {
			t.Errorf("%q: %s", name, got)
		}
	}
}

func TestJitterIsStableAndEven(t *testing.T) {
	// Fixed for ever: a schedule keeps its place when programs are upgraded.
	for key, want := range map[string]string{"": "53m21.897581s", "reports": "29m48.028402s", "reports/2": "50m7.428554s"} {
		if got := timeline.Jitter(key, time.Hour); got.String() != want {
			t.Errorf("%q: %s; want %s", key, got, want)
		}
	}
	for _, bound := range []time.Duration{0, -time.Hour, 1, time.Microsecond} {
		if got := timeline.Jitter("reports", bound); got != 0 {
			t.Errorf("within %s: %s", bound, got)
		}
	}
	var tenths [10]int
	for i := range 10_000 {
		got := timeline.Jitter(fmt.Sprint(i), 10*time.Second)
		if got%time.Microsecond != 0 {
			t.Fatalf("%d: %s", i, got)
		}
		tenths[got/time.Second]++
	}
	for second, n := range tenths {
		if n < 880 || n > 1120 {
			t.Errorf("%d of 10,000 in second %d", n, second)
		}
	}
}
