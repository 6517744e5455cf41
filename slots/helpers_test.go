package slots_test

import (
	"math/rand/v2"
	"testing"
	"time"

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

func minutes(t testing.TB, g slots.Grid, text string) slots.Assignment {
	t.Helper()
	a, err := slots.ParseMinutes(g, text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func share(t testing.TB, g slots.Grid, text string) slots.Assignment {
	t.Helper()
	a, err := slots.ParseShare(g, text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// at reads a moment such as "2026-03-01 13:05:00.000000001" in UTC.
func at(t testing.TB, text string) time.Time {
	t.Helper()
	moment, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

// resolutions are all that are allowed.
func resolutions() []time.Duration {
	var all []time.Duration
	for d := time.Second; d <= 24*time.Hour; d += time.Second {
		if (24*time.Hour)%d == 0 {
			all = append(all, d)
		}
	}
	return all
}

// randomMoments are spread over the years 1 to 9999, some of them on whole
// seconds, minutes and hours, in several locations.
func randomMoments(n int) []time.Time {
	random := rand.New(rand.NewPCG(1, 2))
	first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
	units := []time.Duration{time.Nanosecond, time.Second, time.Minute, time.Hour, 24 * time.Hour}
	locations := []*time.Location{time.UTC, time.FixedZone("", 5*3600+45*60), time.FixedZone("", -8*3600)}
	var moments []time.Time
	for range n {
		moment := time.Unix(first+random.Int64N(last-first), random.Int64N(1e9))
		moment = moment.UTC().Truncate(units[random.IntN(len(units))])
		moments = append(moments, moment.In(locations[random.IntN(len(locations))]))
	}
	return moments
}

// slowCeil walks the slots of a day from midnight UTC, which is on every grid.
func slowCeil(resolution time.Duration, t time.Time) time.Time {
	year, month, day := t.UTC().Date()
	slot := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	for slot.Before(t) {
		slot = slot.Add(resolution)
	}
	return slot
}
