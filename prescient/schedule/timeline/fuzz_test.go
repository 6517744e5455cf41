package timeline_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/schedule/timeline"
)

// Whatever is written is refused in words, or fires in order, on whole seconds but for @at, and at the same instants from
// wherever one asks; and all of it is quick.
func FuzzTimeline(f *testing.F) {
	for _, text := range []string{"*/5 * * * *", "30 2 * * *", "0 * ? 2 mon#5", "0 0 29 2 *", "0 0 L-3,LW,15w * fril,7#1", "59 59 23 * * *", "@every 1w2d3h4m5s",
		"@at 1767225600", "@at 2026-03-29T02:30:00+01:00", "22-3/2 1-5,9 */3 jan,nov-feb ?", "@hourly\n30 2 * * *\n@every 90s"} {
		f.Add(text, "Europe/Berlin", int64(1774746000), uint32(0))
		f.Add(text, "Australia/Lord_Howe", int64(1775312999), uint32(999999999))
		f.Add(text, "Pacific/Apia", int64(1325239200), uint32(1))
		f.Add(text, "", int64(-62135596801), uint32(0))
	}
	f.Add("0 12 1 1 *", "Australia/Lord_Howe", int64(2240524800), uint32(0)) // the last day of 2040
	f.Fuzz(func(t *testing.T, text, zone string, unix int64, nano uint32) {
		from := time.Unix(unix, int64(nano)%1e9)
		began := time.Now()
		l, err := timeline.Parse(strings.Split(text, "\n"), zone, from)
		if err != nil {
			if !errors.Is(err, prescient.ErrInvalid) || strings.Contains(err.Error(), "strconv") || len(err.Error()) > 1000 {
				t.Errorf("%q in %q: %v", text, zone, err)
			}
			return
		}
		at := from
		for range 20 {
			next, ok := l.Next(at)
			if !ok {
				break
			}
			if !next.After(at) || next.Nanosecond()%1000 != 0 || next.Nanosecond() != 0 && !strings.Contains(text, "@") || next.Year() < 1000 || next.Year() > 9999 {
				t.Fatalf("%q in %q: %s comes after %s", text, zone, next, at)
			}
			for _, before := range []time.Time{at.Add(next.Sub(at) / 2), at.Add(next.Sub(at) / 1000 * 997), next.Add(-1)} {
				if again, ok := l.Next(before); !before.Before(at) && (!ok || !again.Equal(next)) {
					t.Fatalf("%q in %q: %s comes after %s, but after %s comes %s", text, zone, next, at, before, again)
				}
			}
			at = next
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%q in %q took %s", text, zone, took)
		}
	})
}
