package slots_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"prescient/slots"
)

// grids are all that there are.
func grids(t testing.TB) []slots.Grid {
	var all []slots.Grid
	for _, resolution := range resolutions() {
		all = append(all, grid(t, resolution))
	}
	return all
}

func FuzzGridLaws(f *testing.F) {
	all := grids(f)
	f.Add(int64(0), int64(0), uint16(0), int64(0))
	f.Add(int64(-1), int64(999_999_999), uint16(40), int64(-3))
	f.Add(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), int64(1), uint16(7), int64(1))
	f.Add(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix(), int64(999_999_999), uint16(95), int64(1000))
	f.Fuzz(func(t *testing.T, seconds, nanoseconds int64, resolution uint16, n int64) {
		const within = 1 << 60
		g := all[int(resolution)%len(all)]
		moment := time.Unix(seconds%within, nanoseconds%1e9)
		ceil, floor, next, prev, on := g.Ceil(moment), g.Floor(moment), g.Next(moment), g.Prev(moment), g.On(moment)
		step := g.Resolution()
		for law, holds := range map[string]bool{
			"Ceil is not before":             !ceil.Before(moment),
			"Ceil is less than a step away":  ceil.Sub(moment) < step,
			"Ceil is on the grid":            g.On(ceil) && g.Ceil(ceil) == ceil,
			"Floor is not after":             !floor.After(moment),
			"Floor is less than a step away": moment.Sub(floor) < step,
			"Floor is on the grid":           g.On(floor) && g.Floor(floor) == floor,
			"Ceil is Floor on a slot only":   ceil.Equal(floor) == on,
			"Floor and Ceil are neighbours":  on || ceil.Sub(floor) == step,
			"a slot is its own Ceil":         ceil.Equal(moment) == on,
			"Next is Ceil a moment later":    next == g.Ceil(moment.Add(1)),
			"Next is after":                  next.After(moment),
			"Next is one after Floor":        next.Sub(floor) == step,
			"Prev is Floor a moment earlier": prev == g.Floor(moment.Add(-1)),
			"Prev is before":                 prev.Before(moment),
			"Prev of Next is Floor":          g.Prev(next) == floor,
			"Ordinal is that of Floor":       g.Ordinal(moment) == g.Ordinal(floor),
			"At is the inverse of Ordinal":   g.At(g.Ordinal(floor)) == floor,
			"Ordinal grows by one":           g.Ordinal(next) == g.Ordinal(floor)+1,
			"midnight UTC is on the grid":    g.On(moment.UTC().Truncate(24 * time.Hour)),
			"Add goes back":                  g.Add(g.Add(floor, n%1e9), -(n%1e9)) == floor,
			"Add counts slots":               g.Ordinal(g.Add(floor, n%1e9)) == g.Ordinal(floor)+n%1e9,
			"MinuteOfHour is Floor's":        g.MinuteOfHour(moment) == floor.Minute(),
			"UTC, no monotonic reading":      ceil == ceil.Round(0).UTC() && floor == floor.Round(0).UTC(),
		} {
			if !holds {
				t.Errorf("%s: %s at %s: ceil %s, floor %s, next %s, prev %s, on %t", law, moment, g, ceil, floor, next, prev, on)
			}
		}
	})
}

func FuzzParseMinutes(f *testing.F) {
	all := grids(f)
	for _, text := range []string{
		"0,30", "15,45", "*/2", "10-50/20", "*", "7", "5/15", "TZ=", "CRON_TZ=UTC 5", "?", "@hourly", "", ",", "0,,1", "*-5", "*/90", "1-2-3", " 0 ",
	} {
		f.Add(text, uint16(30), int64(-1))
	}
	f.Fuzz(func(t *testing.T, text string, resolution uint16, seconds int64) {
		g := all[int(resolution)%len(all)]
		a, err := slots.ParseMinutes(g, text)
		if err != nil {
			if !errors.Is(err, slots.ErrAssignment) || a != (slots.Assignment{}) {
				t.Fatalf("%q at %s: %s, %v", text, g, a, err)
			}
			return
		}
		if time.Hour%g.Resolution() != 0 {
			t.Fatalf("%q at %s is %s, though an hour is not whole slots", text, g, a)
		}
		if strings.Trim(text, "0123456789-/*, \t") != "" {
			t.Fatalf("%q at %s is %s", text, g, a)
		}
		if list, byMinutes := strings.CutPrefix(a.String(), "minutes "); byMinutes {
			if again := minutes(t, g, list); again != a {
				t.Fatalf("%q at %s is %s, which reads as %s", text, g, a, again)
			}
		} else if a != slots.All(g) {
			t.Fatalf("%q at %s is %s", text, g, a)
		}
		checkNext(t, a, time.Unix(seconds%(1<<60), 0), time.Hour)
	})
}

func FuzzParseShare(f *testing.F) {
	all := grids(f)
	for _, text := range []string{"1/2", "2/2", "0/2", "3/2", "1/0", "1/1", " 1/2 ", "1/2/3", "-1/2", "10000/10000", "x", ""} {
		f.Add(text, uint16(30), int64(-1))
	}
	f.Fuzz(func(t *testing.T, text string, resolution uint16, seconds int64) {
		g := all[int(resolution)%len(all)]
		a, err := slots.ParseShare(g, text)
		if err != nil {
			if !errors.Is(err, slots.ErrAssignment) || a != (slots.Assignment{}) {
				t.Fatalf("%q at %s: %s, %v", text, g, a, err)
			}
			return
		}
		if list, byShare := strings.CutPrefix(a.String(), "share "); byShare {
			if again := share(t, g, list); again != a {
				t.Fatalf("%q at %s is %s, which reads as %s", text, g, a, again)
			}
		} else if a != slots.All(g) {
			t.Fatalf("%q at %s is %s", text, g, a)
		}
		checkNext(t, a, time.Unix(seconds%(1<<60), 0), 10_000*g.Resolution())
	})
}

// checkNext holds Next against Serves: it is served, it comes within a period,
// and nothing in between is served.
func checkNext(t *testing.T, a slots.Assignment, moment time.Time, period time.Duration) {
	t.Helper()
	g, next := a.Grid(), a.Next(moment)
	if !a.Serves(next) || !next.After(moment) || next.Sub(moment) > period {
		t.Fatalf("%s at %s after %s is %s", a, g, moment, next)
	}
	for slot := range g.Between(g.Next(moment), next) {
		if a.Serves(slot) {
			t.Fatalf("%s at %s after %s is %s, but %s comes first", a, g, moment, next, slot)
		}
	}
}
