package forecast

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// sampled is what a sample has of some rows.
func sampled(rows []keyed) sample {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, byKey)
	var some []keyed
	for i := range sampledParts {
		first, last := store.BucketRange(i, sampledParts)
		n := 0
		for _, row := range rows {
			if byKey(row, keyed{key: first}) >= 0 && byKey(row, keyed{key: last}) <= 0 && n <= sampledRows {
				some = append(some, row)
				n++
			}
		}
	}
	return parted(some)
}

func rowsAt(series string, slot time.Time, jobExec string, n int) (rows []keyed) {
	for i := range n {
		rows = append(rows, keyed{slot: slot, key: prescient.KeyOf(rig.Order(fmt.Sprint(series, "/", i)), jobExec, ""), jobExec: jobExec})
	}
	return rows
}

// One read tells how many rows each day has, and how far off that may be.
func TestASampleTellsOfEachDay(t *testing.T) {
	within, all := 0, 0
	for round := range 6 {
		var rows []keyed
		for day := range 10 {
			slot := rig.Day.Add(time.Duration(day) * 24 * time.Hour)
			rows = append(rows, rowsAt(fmt.Sprint(round, "a", day), slot, "quick", 1_000*(day+1))...)
			rows = append(rows, rowsAt(fmt.Sprint(round, "b", day), slot.Add(time.Hour), "slow", 500)...)
		}
		s := sampled(rows)
		for day := range 10 {
			from := rig.Day.Add(time.Duration(day) * 24 * time.Hour)
			c := s.of(from, from.Add(24*time.Hour))
			if c.how != Sampled || c.all.sigma <= 0 || c.all.sigma > c.all.n/5 {
				t.Fatalf("%+v", c)
			}
			for want, is := range map[int]count{1_000*(day+1) + 500: c.all, 1_000 * (day + 1): c.execs["quick"], 500: c.execs["slow"]} {
				all++
				if math.Abs(is.n-float64(want)) <= 2*is.sigma {
					within++
				}
			}
		}
	}
	if within < all*88/100 {
		t.Errorf("%d of %d are within two standard errors", within, all)
	}
	// All of few rows are in it, and where there may be some, none is said to be.
	few := sampled(rowsAt("few", rig.Day, "quick", 300))
	if c := few.of(rig.Day, rig.At("01:00")); c.how != Exact || c.all != (count{n: 300}) {
		t.Errorf("%+v", c)
	}
	none := sampled(rowsAt("many", rig.Day, "quick", 40_000)).of(rig.At("02:00"), rig.At("03:00"))
	if none.how != Sampled || none.all.due() != 0 || none.all.high() < 5 || none.all.high() > 12 {
		t.Errorf("%+v", none)
	}
}

// An entity with very many checks takes the place of the others in its part of the keys alone.
func TestAnEntityWithManyChecksSpoilsOnePart(t *testing.T) {
	rows := rowsAt("many", rig.Day, "quick", 40_000)
	for i := range 3_000 {
		rows = append(rows, keyed{slot: rig.Day, key: prescient.KeyOf(rig.Order("large"), "slow", fmt.Sprint(i)), jobExec: "slow"})
	}
	// In front of all that it shares its part with.
	for i, row := range rows[40_000:] {
		first, _ := store.BucketRange(3, sampledParts)
		copy(row.key[:entityBytes], first[:])
		rows[40_000+i] = row
	}
	c := sampled(rows).of(rig.Day, rig.At("01:00"))
	if c.how != AtLeast || c.execs["slow"].n != sampledRows+1 || c.all.n < 32_000 || c.all.n > 43_000 {
		t.Errorf("%s, %+v, %+v", c.how, c.all, c.execs)
	}
}

// The fullest slot of a day is found wherever it lies, and so is one whose few calls take long.
func TestTheBusiestSlotsOfADayAreFound(t *testing.T) {
	const resolution = 15 * time.Minute
	grid := rig.GridOf(t, resolution)
	by := capacity{grid: grid, crews: []crew{{slots.All(grid), []float64{8}}}, execs: map[string]exec{"quick": {run: 10, known: true}, "slow": {run: 600_000, known: true}}}
	var rows []keyed
	for i := range 48 { // the half of the day with most
		rows = append(rows, rowsAt(fmt.Sprint("morning", i), rig.Day.Add(time.Duration(i)*resolution), "quick", 600)...)
	}
	rows = append(rows, rowsAt("full", rig.At("17:15"), "quick", 2_000)...)
	rows = append(rows, rowsAt("slow", rig.At("21:30"), "slow", 150)...)
	units := busiest(rig.Day, rig.Day.Add(24*time.Hour), sampled(rows), planning{slots: map[int64]map[string]float64{grid.Ordinal(rig.At("23:00")): {"slow": 20}}}, by)
	found := make(map[string]bool)
	for _, u := range units {
		found[u.start.Format("15:04")] = true
	}
	if len(units) != peaksOfDay || !found["17:15"] || !found["21:30"] || !found["23:00"] {
		t.Errorf("%v; want the fullest, and those whose calls take longest", found)
	}
}
