package slots_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/slots"
)

func TestResolutionIsWholeSecondsThatDivideADay(t *testing.T) {
	for _, resolution := range []time.Duration{
		time.Second, 2 * time.Second, 15 * time.Second, time.Minute, 90 * time.Second, 864 * time.Second,
		15 * time.Minute, time.Hour, 90 * time.Minute, 8 * time.Hour, 24 * time.Hour,
	} {
		g, err := slots.NewGrid(resolution)
		if err != nil {
			t.Errorf("%s: %v", resolution, err)
		}
		if g.Resolution() != resolution || g.String() != resolution.String() || g.IsZero() {
			t.Errorf("%s: resolution %s, text %s, zero %t", resolution, g.Resolution(), g, g.IsZero())
		}
	}
}

func TestRefusedResolutionSaysWhatIsAllowed(t *testing.T) {
	for _, c := range []struct {
		resolution time.Duration
		says       string
	}{
		{0, "0s is out of range"},
		{-time.Minute, "-1m0s is out of range"},
		{999 * time.Millisecond, "999ms is out of range"},
		{24*time.Hour + time.Second, "24h0m1s is out of range"},
		{48 * time.Hour, "48h0m0s is out of range"},
		{math.MaxInt64, "is out of range"},
		{math.MinInt64, "is out of range"},
		{1500 * time.Millisecond, "1.5s is not whole seconds"},
		{time.Hour + 1, "1h0m0.000000001s is not whole seconds"},
		{7 * time.Second, "7s does not divide a day"},
		{7 * time.Second, "the nearest are 6s and 8s"},
		{7 * time.Minute, "the nearest are 6m40s and 7m12s"},
		{23 * time.Hour, "the nearest are 12h0m0s and 24h0m0s"},
	} {
		g, err := slots.NewGrid(c.resolution)
		if !errors.Is(err, slots.ErrResolution) || !g.IsZero() {
			t.Errorf("%s: grid %s, error %v", c.resolution, g, err)
			continue
		}
		if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "allowed are whole seconds from 1s to 24h0m0s") {
			t.Errorf("%s: %v, want it to say %q", c.resolution, err, c.says)
		}
	}
}

func TestRoundingAndNeighbours(t *testing.T) {
	for _, c := range []struct {
		resolution               time.Duration
		moment                   string
		floor, ceil, prev, after string
	}{
		// between two slots
		{15 * time.Minute, "2026-03-01 13:05:00", "2026-03-01 13:00:00", "2026-03-01 13:15:00", "2026-03-01 13:00:00", "2026-03-01 13:15:00"},
		// exactly on a slot stays
		{15 * time.Minute, "2026-03-01 13:15:00", "2026-03-01 13:15:00", "2026-03-01 13:15:00", "2026-03-01 13:00:00", "2026-03-01 13:30:00"},
		// a nanosecond on either side of a slot
		{15 * time.Minute, "2026-03-01 13:15:00.000000001", "2026-03-01 13:15:00", "2026-03-01 13:30:00", "2026-03-01 13:15:00", "2026-03-01 13:30:00"},
		{15 * time.Minute, "2026-03-01 13:14:59.999999999", "2026-03-01 13:00:00", "2026-03-01 13:15:00", "2026-03-01 13:00:00", "2026-03-01 13:15:00"},
		// wrap around the hour, the day, the year
		{15 * time.Minute, "2026-12-31 23:59:00", "2026-12-31 23:45:00", "2027-01-01 00:00:00", "2026-12-31 23:45:00", "2027-01-01 00:00:00"},
		{24 * time.Hour, "2026-02-28 00:00:01", "2026-02-28 00:00:00", "2026-03-01 00:00:00", "2026-02-28 00:00:00", "2026-03-01 00:00:00"},
		// a leap day
		{24 * time.Hour, "2028-02-28 12:00:00", "2028-02-28 00:00:00", "2028-02-29 00:00:00", "2028-02-28 00:00:00", "2028-02-29 00:00:00"},
		// the epoch and before it
		{time.Hour, "1970-01-01 00:00:00", "1970-01-01 00:00:00", "1970-01-01 00:00:00", "1969-12-31 23:00:00", "1970-01-01 01:00:00"},
		{time.Hour, "1969-12-31 23:59:59.5", "1969-12-31 23:00:00", "1970-01-01 00:00:00", "1969-12-31 23:00:00", "1970-01-01 00:00:00"},
		{time.Second, "1969-12-31 23:59:59.5", "1969-12-31 23:59:59", "1970-01-01 00:00:00", "1969-12-31 23:59:59", "1970-01-01 00:00:00"},
		// the first and the last year
		{time.Hour, "0001-01-01 00:00:00", "0001-01-01 00:00:00", "0001-01-01 00:00:00", "0000-12-31 23:00:00", "0001-01-01 01:00:00"},
		{90 * time.Minute, "9999-12-31 23:59:59.999999999", "9999-12-31 22:30:00", "10000-01-01 00:00:00", "9999-12-31 22:30:00", "10000-01-01 00:00:00"},
	} {
		g, moment := grid(t, c.resolution), at(t, c.moment)
		for _, r := range []struct {
			name string
			got  time.Time
			want string
		}{
			{"Floor", g.Floor(moment), c.floor},
			{"Ceil", g.Ceil(moment), c.ceil},
			{"Prev", g.Prev(moment), c.prev},
			{"Next", g.Next(moment), c.after},
		} {
			if got := r.got.Format("2006-01-02 15:04:05.999999999"); got != r.want {
				t.Errorf("%s(%s) at %s is %s, want %s", r.name, c.moment, g, got, r.want)
			}
		}
		if on := g.On(moment); on != (c.floor == c.ceil) {
			t.Errorf("On(%s) at %s is %t", c.moment, g, on)
		}
	}
}

func TestRoundingAgreesWithWalkingFromMidnight(t *testing.T) {
	all := resolutions()
	for i, moment := range randomMoments(2000) {
		resolution := all[i%len(all)]
		g := grid(t, resolution)
		ceil := slowCeil(resolution, moment)
		next := slowCeil(resolution, moment.Add(1))
		for _, r := range []struct {
			name      string
			got, want time.Time
		}{
			{"Ceil", g.Ceil(moment), ceil},
			{"Next", g.Next(moment), next},
			{"Prev", g.Prev(moment), ceil.Add(-resolution)},
			{"Floor", g.Floor(moment), next.Add(-resolution)},
			{"At(Ordinal)", g.At(g.Ordinal(moment)), next.Add(-resolution)},
		} {
			if r.got != r.want {
				t.Fatalf("%s(%s) at %s is %s, want %s", r.name, moment, g, r.got, r.want)
			}
		}
		if on := g.On(moment); on != ceil.Equal(moment) {
			t.Fatalf("On(%s) at %s is %t", moment, g, on)
		}
		if got := g.MinuteOfHour(moment); got != next.Add(-resolution).Minute() {
			t.Fatalf("MinuteOfHour(%s) at %s is %d", moment, g, got)
		}
	}
}

func TestEveryGridHasASlotAtMidnightUTC(t *testing.T) {
	midnight := at(t, "2026-07-04 00:00:00")
	for _, resolution := range resolutions() {
		if g := grid(t, resolution); !g.On(midnight) {
			t.Errorf("%s has none", g)
		}
	}
}

func TestResultsAreInUTCWithoutMonotonicReading(t *testing.T) {
	g := grid(t, time.Second)
	now := time.Now().In(time.FixedZone("elsewhere", 3600))
	for name, got := range map[string]time.Time{
		"Ceil": g.Ceil(now), "Floor": g.Floor(now), "Next": g.Next(now), "Prev": g.Prev(now),
		"At": g.At(1), "Add": g.Add(now, 1), "All.Next": slots.All(g).Next(now),
		"Minutes.Next": minutes(t, g, "7").Next(now), "Share.Next": share(t, g, "2/3").Next(now),
	} {
		if got.Location() != time.UTC || got != got.Round(0) {
			t.Errorf("%s returns %s", name, got)
		}
	}
	for slot := range g.Between(now, now.Add(3*time.Second)) {
		if slot.Location() != time.UTC || slot != slot.Round(0) {
			t.Errorf("Between yields %s", slot)
		}
	}
}

func TestLocationOfTheArgumentChangesNothing(t *testing.T) {
	g := grid(t, time.Hour)
	kathmandu := time.FixedZone("+0545", 5*3600+45*60)
	local := time.Date(2026, 3, 1, 13, 0, 0, 0, kathmandu) // 07:15 UTC
	if got, want := g.Ceil(local), at(t, "2026-03-01 08:00:00"); got != want {
		t.Errorf("Ceil is %s, want %s", got, want)
	}
	if g.On(local) {
		t.Error("a full hour in Kathmandu is not one in UTC")
	}
}

func TestBetweenIsHalfOpen(t *testing.T) {
	g := grid(t, 15*time.Minute)
	for _, c := range []struct {
		name, from, to string
		want           []string
	}{
		{"from is in, to is out", "2026-03-01 13:00:00", "2026-03-01 13:30:00", []string{"13:00", "13:15"}},
		{"from is rounded up", "2026-03-01 13:00:00.000000001", "2026-03-01 13:30:00.000000001", []string{"13:15", "13:30"}},
		{"one slot", "2026-03-01 13:14:59", "2026-03-01 13:15:01", []string{"13:15"}},
		{"none between two slots", "2026-03-01 13:01:00", "2026-03-01 13:14:00", nil},
		{"none in an empty interval", "2026-03-01 13:00:00", "2026-03-01 13:00:00", nil},
		{"none backwards", "2026-03-01 14:00:00", "2026-03-01 13:00:00", nil},
		{"over the epoch", "1969-12-31 23:40:00", "1970-01-01 00:01:00", []string{"23:45", "00:00"}},
	} {
		var got []string
		for slot := range g.Between(at(t, c.from), at(t, c.to)) {
			got = append(got, slot.Format("15:04"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestBetweenStopsWhenAskedAndStartsAgain(t *testing.T) {
	between := grid(t, time.Second).Between(at(t, "0001-01-01 00:00:00"), at(t, "9999-01-01 00:00:00"))
	for range 2 {
		n := 0
		for slot := range between {
			if n++; n == 3 {
				if want := at(t, "0001-01-01 00:00:02"); slot != want {
					t.Errorf("third slot is %s, want %s", slot, want)
				}
				break
			}
		}
	}
}

func TestOrdinalCountsFromTheEpoch(t *testing.T) {
	g := grid(t, 15*time.Minute)
	for _, c := range []struct {
		moment string
		want   int64
	}{
		{"1970-01-01 00:00:00", 0},
		{"1970-01-01 00:14:59.999999999", 0},
		{"1970-01-01 00:15:00", 1},
		{"1969-12-31 23:59:59.999999999", -1},
		{"1969-12-31 23:45:00", -1},
		{"1969-12-31 23:44:59", -2},
		{"1970-01-02 00:00:00", 96},
	} {
		if got := g.Ordinal(at(t, c.moment)); got != c.want {
			t.Errorf("Ordinal(%s) is %d, want %d", c.moment, got, c.want)
		}
	}
}

func TestAddGoesBothWays(t *testing.T) {
	g := grid(t, 15*time.Minute)
	for _, c := range []struct {
		slot string
		n    int64
		want string
	}{
		{"2026-03-01 13:15:00", 0, "2026-03-01 13:15:00"},
		{"2026-03-01 13:15:00", 1, "2026-03-01 13:30:00"},
		{"2026-03-01 13:15:00", -2, "2026-03-01 12:45:00"},
		{"2026-03-01 13:20:00", 1, "2026-03-01 13:30:00"},
		{"1970-01-01 00:00:00", -96, "1969-12-31 00:00:00"},
	} {
		if got := g.Add(at(t, c.slot), c.n); got != at(t, c.want) {
			t.Errorf("Add(%s, %d) is %s, want %s", c.slot, c.n, got, c.want)
		}
	}
}

func TestMinuteOfHourIsThatOfUTC(t *testing.T) {
	g := grid(t, 15*time.Minute)
	if got := g.MinuteOfHour(time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("", 5*3600+45*60))); got != 15 {
		t.Errorf("13:00 at +05:45 is minute %d, want 15", got)
	}
	if got := g.MinuteOfHour(at(t, "1969-12-31 23:45:00")); got != 45 {
		t.Errorf("before the epoch: minute %d, want 45", got)
	}
}

func TestNothingOverflowsAtTheEndsOfTime(t *testing.T) {
	const edge = 1 << 61
	past, future := time.Unix(-edge, 0), time.Unix(edge, 0)
	var extremes []time.Time
	for _, seconds := range []int64{math.MinInt64, math.MinInt64 + 62135596800, -edge, edge, math.MaxInt64 - 62135596800, math.MaxInt64} {
		extremes = append(extremes, time.Unix(seconds, 0), time.Unix(seconds, 999_999_999))
	}
	for _, resolution := range []time.Duration{time.Second, 15 * time.Minute, 24 * time.Hour} {
		g := grid(t, resolution)
		all := []slots.Assignment{slots.All(g), share(t, g, "2/3")}
		if resolution <= time.Hour {
			all = append(all, minutes(t, g, "15"))
		}
		var results []time.Time
		for _, extreme := range extremes {
			results = append(results, g.Ceil(extreme), g.Floor(extreme), g.Next(extreme), g.Prev(extreme))
			for _, n := range []int64{math.MinInt64, -1, 1, math.MaxInt64} {
				results = append(results, g.Add(extreme, n))
			}
			for _, a := range all {
				results = append(results, a.Next(extreme))
			}
		}
		results = append(results, g.At(math.MinInt64), g.At(math.MaxInt64))
		for _, result := range results {
			if result.Before(past) || result.After(future) || !g.On(result) {
				t.Errorf("at %s: %d is no slot within the edges", g, result.Unix())
			}
		}
		if g.Add(extremes[4], math.MaxInt64) != g.At(math.MaxInt64) || g.Add(extremes[6], math.MinInt64) != g.At(math.MinInt64) {
			t.Errorf("at %s: Add does not stay at the end it goes past", g)
		}
	}
}

func TestMomentsBeyondTheEdgeCountAsTheEdgeTheyArePast(t *testing.T) {
	g := grid(t, time.Second)
	for _, c := range []struct {
		moment time.Time
		want   int64
	}{
		{time.Unix(math.MinInt64+62135596800, 0), -1 << 61},
		{time.Unix(math.MaxInt64-62135596800, 0), 1 << 61},
	} {
		if got := g.Ordinal(c.moment); got != c.want {
			t.Errorf("Ordinal(%d s) is %d, want %d", c.moment.Unix(), got, c.want)
		}
	}
	// The calendar of time.Time begins in the year 1, so this one wraps around
	// to its far past, although Unix still returns MaxInt64.
	wrapped := time.Unix(math.MaxInt64, 0)
	if !wrapped.Before(time.Unix(0, 0)) || g.Ordinal(wrapped) != -1<<61 {
		t.Errorf("Ordinal of a moment that compares as past is %d", g.Ordinal(wrapped))
	}
}

func TestZeroGridHasNoSlots(t *testing.T) {
	var zero slots.Grid
	if !zero.IsZero() || zero.Resolution() != 0 || zero.String() != "0s" {
		t.Errorf("zero %t, resolution %s, text %q", zero.IsZero(), zero.Resolution(), zero)
	}
	for name, call := range map[string]func(){
		"Ceil":    func() { zero.Ceil(time.Time{}) },
		"On":      func() { zero.On(time.Time{}) },
		"At":      func() { zero.At(0) },
		"Between": func() { zero.Between(time.Time{}, time.Time{}) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "NewGrid") {
					t.Errorf("%s on the zero Grid: %q", name, text)
				}
			}()
			call()
		}()
	}
}

func TestGridsOfOneResolutionAreEqual(t *testing.T) {
	if grid(t, time.Hour) != grid(t, 60*time.Minute) || grid(t, time.Hour) == grid(t, time.Minute) {
		t.Error("grids do not compare by resolution")
	}
}

func BenchmarkCeil(b *testing.B) {
	moment := at(b, "2026-03-01 13:05:00")
	for _, resolution := range []time.Duration{time.Second, 15 * time.Minute} {
		g := grid(b, resolution)
		b.Run(g.String(), func(b *testing.B) {
			for b.Loop() {
				g.Ceil(moment)
			}
		})
	}
}
