package drift

import (
	"cmp"
	"math"
	"slices"
)

// point is the level of a day without the rhythm of its week.
type point struct {
	day   int
	level float64
}

// rhythm is how far the levels of each weekday are above those of the week around them.
func rhythm(all []level) (above [week]float64) {
	var off [week][]float64
	for _, l := range all {
		var around []float64
		for _, other := range all {
			if other.day >= l.day-week/2 && other.day <= l.day+week/2 {
				around = append(around, other.median)
			}
		}
		off[l.day%week] = append(off[l.day%week], l.median-median(around))
	}
	for weekday, of := range off {
		if len(of) > 0 {
			above[weekday] = median(of)
		}
	}
	return above
}

func without(all []level, above [week]float64) []point {
	points := make([]point, len(all))
	for i, l := range all {
		points[i] = point{l.day, l.median - above[l.day%week]}
	}
	return points
}

// fit is how levels may have risen.
type fit struct {
	kind     Kind
	since    int // the first day
	from, to float64
	off      []float64 // how far each day is from it
	sum      float64
}

// scatter is the mean of the nearest nine tenths: it bears single bad days, and differs less by chance than a median.
func (f fit) scatter() float64 {
	nearest := slices.Sorted(slices.Values(f.off))[:(9*len(f.off)+9)/10]
	return total(nearest) / float64(len(nearest))
}

// nearest is, of all steps, and of all lines that leave a level on some day, the one that is nearest to the points.
func nearest(points []point) (best fit) {
	last := points[len(points)-1].day
	best.sum = math.Inf(1)
	for at := looks; at <= len(points)-looks; at++ {
		before, after := points[:at], points[at:]
		from, to, leaves := middle(before), middle(after), before[at-1].day
		take := func(kind Kind, to, level, slope float64) {
			off := append(distances(before, leaves, from, 0), distances(after, leaves, level, slope)...)
			if sum := total(off); sum < best.sum {
				best = fit{kind: kind, since: after[0].day, from: from, to: to, off: off, sum: sum}
			}
		}
		take(Sudden, to, to, 0)
		if last-leaves >= minGrows {
			slope := slopeOf(after, leaves, from)
			take(Gradual, from+slope*float64(last-leaves), from, slope)
		}
	}
	return best
}

func middle(points []point) float64 {
	levels := make([]float64, len(points))
	for i, p := range points {
		levels[i] = p.level
	}
	return median(levels)
}

// distances are how far points are from a line.
func distances(points []point, day int, level, slope float64) (off []float64) {
	for _, p := range points {
		off = append(off, math.Abs(p.level-level-slope*float64(p.day-day)))
	}
	return off
}

func total(of []float64) (sum float64) {
	for _, x := range of {
		sum += x
	}
	return sum
}

// slopeOf is that of the line through a level of a day which is nearest to later points: the median of their slopes, each with the weight of its
// distance in days.
func slopeOf(points []point, day int, level float64) float64 {
	type side struct{ slope, weight float64 }
	var sides []side
	var sum float64
	for _, p := range points {
		days := float64(p.day - day)
		sides = append(sides, side{(p.level - level) / days, days})
		sum += days
	}
	slices.SortFunc(sides, func(x, y side) int { return cmp.Compare(x.slope, y.slope) })
	for _, s := range sides {
		if sum -= 2 * s.weight; sum <= 0 {
			return s.slope
		}
	}
	return 0
}
