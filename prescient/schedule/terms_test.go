package schedule

import (
	"testing"
	"time"
)

// Crontabs need not fire at equal distances.
func TestTheGapBeforeAnOccurrenceIsThatToTheOneBeforeIt(t *testing.T) {
	for _, test := range []struct {
		crontabs []string
		due      string
		most     time.Duration
		want     time.Duration
	}{
		{[]string{"0 12 * * *", "2 12 * * *"}, "2026-11-20T12:02:00Z", 24*time.Hour - 2*time.Minute, 2 * time.Minute},
		{[]string{"0 12 * * *", "2 12 * * *"}, "2026-11-20T12:00:00Z", 2 * time.Minute, 2 * time.Minute},
		{[]string{"* * * * *"}, "2026-11-20T12:02:00Z", time.Minute, time.Minute},
		{[]string{"* 9-17 * * *"}, "2026-11-20T17:59:00Z", 15*time.Hour + time.Minute, time.Minute},
		{[]string{"0 0 12 * * *", "1 0 12 * * *"}, "2026-11-20T12:00:01Z", 24*time.Hour - time.Second, time.Second},
		{[]string{"@yearly", "0 0 3 1 *"}, "2026-01-03T00:00:00Z", 363 * 24 * time.Hour, 48 * time.Hour},
	} {
		line, err := Schedule{ID: "a", Crontabs: test.crontabs}.timeline(nil, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		due, err := time.Parse(time.RFC3339, test.due)
		if err != nil {
			t.Fatal(err)
		}
		if got := line.GapBefore(due, test.most); got != test.want {
			t.Errorf("%q at %s: %s; want %s", test.crontabs, test.due, got, test.want)
		}
	}
}

// The run of an occurrence that another machine computed, an hour before it comes here, is not an hour from the next one.
func TestAnOccurrenceOfOtherTimeZonesIsAsFarFromTheNextAsAnyOther(t *testing.T) {
	line, err := Schedule{ID: "a", Crontabs: []string{"0 8 * * *"}, Zone: "Africa/Lagos"}.timeline(nil, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, hour := range []int{6, 7, 8} {
		due := time.Date(2026, 6, 1, hour, 0, 0, 0, time.UTC)
		if next, ok := line.Following(due); !ok || next.Sub(due) != 24*time.Hour {
			t.Errorf("after %s comes %s", due, next)
		}
	}
}
