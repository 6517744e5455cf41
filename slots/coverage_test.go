package slots_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"prescient/slots"
)

func TestCoverSaysWhatIsUnservedAndWhatIsDoubled(t *testing.T) {
	quarter, day, sixHours := grid(t, 15*time.Minute), grid(t, 24*time.Hour), grid(t, 6*time.Hour)
	thirds := grid(t, 20*time.Second)
	for _, c := range []struct {
		name        string
		assignments []slots.Assignment
		period      time.Duration
		unserved    []time.Duration
		doubled     []slots.Overlap
		says        string
	}{
		{
			name:        "one worker for everything",
			assignments: []slots.Assignment{slots.All(quarter)},
			period:      15 * time.Minute,
			says:        "every slot is served exactly once",
		},
		{
			name:        "two halves by minutes",
			assignments: []slots.Assignment{minutes(t, quarter, "0,30"), minutes(t, quarter, "15,45")},
			period:      time.Hour,
			says:        "every slot is served exactly once",
		},
		{
			name:        "minutes and the share that completes them",
			assignments: []slots.Assignment{minutes(t, quarter, "0,30"), share(t, quarter, "2/2")},
			period:      time.Hour,
			says:        "every slot is served exactly once",
		},
		{
			name:        "half is missing",
			assignments: []slots.Assignment{minutes(t, quarter, "0,30")},
			period:      time.Hour,
			unserved:    []time.Duration{15 * time.Minute, 45 * time.Minute},
			says:        "nobody serves :15, :45",
		},
		{
			name:        "half is missing and the period is less than an hour",
			assignments: []slots.Assignment{share(t, quarter, "1/2")},
			period:      30 * time.Minute,
			unserved:    []time.Duration{15 * time.Minute},
			says:        "nobody serves :15, :45",
		},
		{
			name:        "missing and doubled",
			assignments: []slots.Assignment{minutes(t, quarter, "0,30"), minutes(t, quarter, "0,15"), minutes(t, quarter, "0")},
			period:      time.Hour,
			unserved:    []time.Duration{45 * time.Minute},
			doubled:     []slots.Overlap{{Offset: 0, Assignments: []int{0, 1, 2}}},
			says: "nobody serves :45\n" +
				"assignment 0 (minutes 0,30), assignment 1 (minutes 0,15) and assignment 2 (minutes 0) all serve :00",
		},
		{
			name:        "doubled by different pairs",
			assignments: []slots.Assignment{slots.All(quarter), minutes(t, quarter, "0,30"), minutes(t, quarter, "15")},
			period:      time.Hour,
			doubled: []slots.Overlap{
				{Offset: 0, Assignments: []int{0, 1}},
				{Offset: 15 * time.Minute, Assignments: []int{0, 2}},
				{Offset: 30 * time.Minute, Assignments: []int{0, 1}},
			},
			says: "assignment 0 (every slot) and assignment 1 (minutes 0,30) both serve :00, :30; " +
				"assignment 0 (every slot) and assignment 2 (minutes 15) both serve :15",
		},
		{
			name:        "a period longer than an hour is told by the time of day",
			assignments: []slots.Assignment{share(t, sixHours, "1/2")},
			period:      12 * time.Hour,
			unserved:    []time.Duration{6 * time.Hour},
			says:        "nobody serves 06:00, 18:00 UTC",
		},
		{
			name:        "a period that does not divide a day is told from the epoch",
			assignments: []slots.Assignment{share(t, day, "1/3"), share(t, day, "3/3")},
			period:      72 * time.Hour,
			unserved:    []time.Duration{24 * time.Hour},
			says:        "nobody serves +24h0m0s of every 72h0m0s since 1970-01-01 UTC",
		},
		{
			name:        "seconds are told where there are any",
			assignments: []slots.Assignment{share(t, thirds, "1/90"), minutes(t, thirds, "0-28,30-58")},
			period:      time.Hour,
			unserved: []time.Duration{
				29 * time.Minute, 29*time.Minute + 20*time.Second, 29*time.Minute + 40*time.Second,
				59 * time.Minute, 59*time.Minute + 20*time.Second, 59*time.Minute + 40*time.Second,
			},
			doubled: []slots.Overlap{{Offset: 0, Assignments: []int{0, 1}}, {Offset: 30 * time.Minute, Assignments: []int{0, 1}}},
			says: "nobody serves :29, :29:20, :29:40, :59, :59:20, :59:40\n" +
				"assignment 0 (share 1/90) and assignment 1 (minutes " + list(0, 28) + "," + list(30, 58) + ") both serve :00, :30",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := slots.Cover(c.assignments...)
			if err != nil {
				t.Fatal(err)
			}
			if got.Period != c.period || !reflect.DeepEqual(got.Unserved, c.unserved) || !reflect.DeepEqual(got.Doubled, c.doubled) {
				t.Errorf("period %s, unserved %v, doubled %v", got.Period, got.Unserved, got.Doubled)
			}
			if got.String() != c.says {
				t.Errorf("says\n%s\nwant\n%s", got, c.says)
			}
		})
	}
}

func list(first, last int) string {
	var numbers []string
	for n := first; n <= last; n++ {
		numbers = append(numbers, fmt.Sprint(n))
	}
	return strings.Join(numbers, ",")
}

func TestPeriodIsTheLeastCommonMultiple(t *testing.T) {
	quarter := grid(t, 15*time.Minute)
	for _, c := range []struct {
		assignments []slots.Assignment
		want        time.Duration
	}{
		{[]slots.Assignment{share(t, quarter, "1/2"), share(t, quarter, "1/3")}, 6 * 15 * time.Minute},
		{[]slots.Assignment{share(t, quarter, "1/4"), share(t, quarter, "1/6")}, 12 * 15 * time.Minute},
		{[]slots.Assignment{minutes(t, quarter, "0"), share(t, quarter, "1/6")}, 12 * 15 * time.Minute},
		{[]slots.Assignment{minutes(t, grid(t, time.Second), "0"), share(t, grid(t, time.Second), "1/27")}, 3 * time.Hour},
		{[]slots.Assignment{share(t, grid(t, 24*time.Hour), "1/10000"), share(t, grid(t, 24*time.Hour), "1/625")}, 10000 * 24 * time.Hour},
	} {
		got, err := slots.Cover(c.assignments...)
		if err != nil || got.Period != c.want {
			t.Errorf("%v: %s, %v, want %s", c.assignments, got.Period, err, c.want)
		}
	}
}

func TestLongestPeriodStillFitsADuration(t *testing.T) {
	day := grid(t, 24*time.Hour)
	got, err := slots.Cover(share(t, day, "1/10000"), share(t, day, "1/32"), share(t, day, "10000/10000"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Period != 20_000*24*time.Hour || got.Unserved[len(got.Unserved)-1] < 0 {
		t.Errorf("period %s", got.Period)
	}
	if got, err = slots.Cover(share(t, day, "1/3125"), share(t, day, "1/32")); err != nil || got.Period != 100_000*24*time.Hour {
		t.Errorf("period %s, %v", got.Period, err)
	}
	for _, offset := range got.Unserved {
		if offset < 0 || offset >= got.Period {
			t.Fatalf("offset %s", offset)
		}
	}
}

func TestCoverRefusesWhatCannotBeCompared(t *testing.T) {
	quarter, half := grid(t, 15*time.Minute), grid(t, 30*time.Minute)
	for _, c := range []struct {
		name        string
		assignments []slots.Assignment
		says        string
	}{
		{"nothing", nil, "at least one assignment is needed"},
		{"a zero assignment", []slots.Assignment{slots.All(quarter), {}}, "assignment 1 is the zero Assignment"},
		{"two grids", []slots.Assignment{slots.All(quarter), slots.All(half)},
			"assignment 1 is on a grid of 30m0s, assignment 0 on one of 15m0s; all must share one grid"},
		{"a period that is too long", []slots.Assignment{share(t, quarter, "1/9973"), share(t, quarter, "1/11")},
			"with assignment 1 (share 1/11) it takes 109703 slots of 15m0s until all repeat together; allowed are at most 100000"},
	} {
		got, err := slots.Cover(c.assignments...)
		if !errors.Is(err, slots.ErrAssignment) || !strings.Contains(err.Error(), c.says) || got.Period != 0 {
			t.Errorf("%s: %v, want it to say %q", c.name, err, c.says)
		}
	}
}

func TestCoverAgreesWithAskingEveryAssignmentForEverySlot(t *testing.T) {
	for _, resolution := range []time.Duration{30 * time.Second, 90 * time.Second, 15 * time.Minute, 90 * time.Minute, 24 * time.Hour} {
		g := grid(t, resolution)
		assignments := []slots.Assignment{share(t, g, "1/3"), share(t, g, "2/4"), share(t, g, "5/5")}
		if a, err := slots.ParseMinutes(g, "0-20/3,30-40"); err == nil {
			assignments = append(assignments, a)
		}
		coverage, err := slots.Cover(assignments...)
		if err != nil {
			t.Fatal(err)
		}
		serving := map[time.Duration][]int{}
		for _, offset := range coverage.Unserved {
			serving[offset] = []int{}
		}
		for _, overlap := range coverage.Doubled {
			serving[overlap.Offset] = overlap.Assignments
		}
		// Two periods before the epoch, one after it.
		epoch := time.Unix(0, 0).UTC()
		for slot := range g.Between(epoch.Add(-2*coverage.Period), epoch.Add(coverage.Period)) {
			want := []int{}
			for i, a := range assignments {
				if a.Serves(slot) {
					want = append(want, i)
				}
			}
			offset := slot.Sub(epoch.Add(-2*coverage.Period)) % coverage.Period
			got, listed := serving[offset]
			if listed != (len(want) != 1) || listed && !reflect.DeepEqual(got, want) {
				t.Fatalf("at %s, %s (offset %s) is served by %v, Cover says %v", g, slot, offset, want, got)
			}
		}
	}
}

func TestDescribeNamesTheWorkers(t *testing.T) {
	quarter := grid(t, 15*time.Minute)
	coverage, err := slots.Cover(minutes(t, quarter, "0,30"), minutes(t, quarter, "0,15"))
	if err != nil {
		t.Fatal(err)
	}
	workers := []string{"eu-1", "eu-2"}
	want := "nobody serves :45\neu-1 and eu-2 both serve :00"
	if got := coverage.Describe(func(i int) string { return workers[i] }); got != want {
		t.Errorf("says\n%s\nwant\n%s", got, want)
	}
}

func TestLongListsAreCountedInsteadOfSpelledOut(t *testing.T) {
	minute, second := grid(t, time.Minute), grid(t, time.Second)
	coverage, err := slots.Cover(minutes(t, minute, "0"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := coverage.String(), "nobody serves :01, :02, :03, :04, :05, :06, :07, :08, :09, :10, :11, :12 and 47 more"; got != want {
		t.Errorf("says %s, want %s", got, want)
	}
	if coverage, err = slots.Cover(share(t, second, "1/2")); err != nil {
		t.Fatal(err)
	}
	if got, want := coverage.String(), ":00:01, :00:03, :00:05"; !strings.Contains(got, want) || !strings.HasSuffix(got, "and 1788 more") {
		t.Errorf("says %s", got)
	}
	many := []slots.Assignment{slots.All(minute)}
	for m := range 7 {
		many = append(many, minutes(t, minute, fmt.Sprint(m)))
	}
	if coverage, err = slots.Cover(many...); err != nil {
		t.Fatal(err)
	}
	if got := coverage.String(); !strings.HasSuffix(got, "; 3 more combinations share slots") {
		t.Errorf("says %s", got)
	}
}

func TestZeroCoverageSaysNothingIsWrong(t *testing.T) {
	var zero slots.Coverage
	if got := zero.String(); got != "every slot is served exactly once" {
		t.Errorf("says %q", got)
	}
	byHand := slots.Coverage{Period: time.Hour, Doubled: []slots.Overlap{{Assignments: []int{0, 7}}}}
	if got, want := byHand.String(), "assignment 0 and assignment 7 both serve :00"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}
