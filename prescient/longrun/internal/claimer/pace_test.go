package claimer

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

func TestALookIsHalfASecondAfterAnotherWhileSomethingIsThere(t *testing.T) {
	grid, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 20, 12, 7, 0, 0, time.UTC)
	if next := nextLook(grid, now, true); !next.Equal(now.Add(time.Second / 2)) {
		t.Errorf("%s", next)
	}
}

func TestWhileNothingIsThereLooksComeAfterSlotBoundaries(t *testing.T) {
	for resolution, want := range map[time.Duration][]int{ // seconds after the boundary, within the first five minutes
		15 * time.Minute: {1, 2, 4, 8, 16, 32, 64, 124, 184, 244},
		time.Minute:      {1, 2, 4, 8, 16, 32, 61, 62, 64, 68, 76, 92, 121},
		time.Second:      {1, 2, 3, 4, 5, 6, 7},
	} {
		grid, err := slots.NewGrid(resolution)
		if err != nil {
			t.Fatal(err)
		}
		boundary := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		var got []int
		for at := boundary.Add(time.Second); len(got) < len(want); at = nextLook(grid, at, false) {
			got = append(got, int(at.Sub(boundary)/time.Second))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v; want %v", resolution, got, want)
		}
	}
}

func TestLoadDelaysAClaimByHalfASecondAndATwentiethOfASlotAtMost(t *testing.T) {
	for _, tt := range []struct {
		resolution time.Duration
		load       float64
		want       time.Duration
	}{{15 * time.Minute, 0, 0}, {15 * time.Minute, 0.5, 250 * time.Millisecond}, {15 * time.Minute, 1, time.Second / 2}, {15 * time.Minute, 7, time.Second / 2},
		{10 * time.Second, 1, time.Second / 2}, {5 * time.Second, 1, 250 * time.Millisecond}, {time.Second, 1, 50 * time.Millisecond}} {
		if got := delay(tt.resolution, tt.load); got != tt.want {
			t.Errorf("%s, load %g: %s; want %s", tt.resolution, tt.load, got, tt.want)
		}
	}
}

// Agents that see the same runs begin with others, so that they seldom claim the same one.
func TestAgentsBeginWithOtherRuns(t *testing.T) {
	first := make(map[prescient.Key]bool)
	for _, agent := range []string{"a", "b", "c", "d"} {
		var keys []prescient.Key
		for i := range 100 {
			keys = append(keys, prescient.Key{byte(i)})
		}
		slices.SortFunc(keys, func(x, y prescient.Key) int { return cmp.Compare(place(agent, x), place(agent, y)) })
		first[keys[0]] = true
	}
	if len(first) < 3 {
		t.Errorf("four agents begin with %d runs", len(first))
	}
}
