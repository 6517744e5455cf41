package estimate

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"prescient/prescient"
)

const (
	// eachCell is how many checks there are at least for a cell of ages, and maxCells how many cells.
	eachCell, minCells, maxCells = 20, 8, 40
	// smoothPoints are about how many points a curve has at most.
	smoothPoints = 80
	// rounds are those of the estimate at most; it ends where a round makes what was seen likelier by less than this for each check.
	rounds    = 600
	converged = 1e-6
	// unlikely is how likely at least it is held that something happened when it did.
	unlikely = 1e-9
)

// span is an age that is known in between: in seconds, as they pass in a curve's day.
type span struct {
	from, until float64
	reported    bool
}

func (s span) finite() bool { return !math.IsInf(s.until, 1) }

// fit finds the points of a curve: the shares that make what was seen most likely, by Turnbull's estimator, which expectation and maximisation find, for
// cells of ages in which shares grow evenly. A cell ends where many of the ages that were seen do, and is as long as a part of the spans that end there
// at least. What happened before floor is not told apart.
func fit(spans []span, floor, part float64) []prescient.CurvePoint {
	ends := cells(spans, floor, part)
	shares, reported := likeliest(spans, ends)
	byCheck, byApp := make([]float64, len(ends)), make([]float64, len(ends))
	sumCheck, sumApp := 0.0, 0.0
	for i := range ends {
		sumCheck, sumApp = sumCheck+shares[i]*(1-reported[i]), sumApp+shares[i]*reported[i]
		byCheck[i], byApp[i] = sumCheck, sumApp
	}
	found, told := smooth(ends, byCheck), smooth(ends, byApp)
	var points []prescient.CurvePoint
	add := func(age, byCheck, byApp float64) {
		p := prescient.CurvePoint{AgeSeconds: int64(math.Ceil(age)), Reported: short5(byApp)}
		p.Happened = min(short5(short5(byCheck)+p.Reported), 1)
		if len(points) == 0 || p.AgeSeconds > points[len(points)-1].AgeSeconds {
			points = append(points, p)
		}
	}
	add(ends[0], byCheck[0], byApp[0])
	pieces := max(smoothPoints/len(ends), 1)
	for i := range len(ends) - 1 {
		for n := range pieces {
			part := float64(n+1) / float64(pieces)
			add(ends[i]+part*(ends[i+1]-ends[i]), found(i, part), told(i, part))
		}
	}
	return points
}

// smooth is a line through shares at the ends of cells that has no corners, where a plan would look first of all, and never falls: of the third degree,
// with slopes by Fritsch and Butland. It tells the share at a part of the cell behind an end.
func smooth(ends, shares []float64) func(i int, part float64) float64 {
	rises, slopes := make([]float64, len(ends)), make([]float64, len(ends))
	for i := range len(ends) - 1 {
		rises[i] = (shares[i+1] - shares[i]) / (ends[i+1] - ends[i])
	}
	for i := range ends {
		switch {
		case i == 0:
			slopes[i] = rises[i]
		case i == len(ends)-1:
			slopes[i] = rises[i-1]
		case rises[i-1] > 0 && rises[i] > 0:
			before, behind := ends[i]-ends[i-1], ends[i+1]-ends[i]
			slopes[i] = 3 * (before + behind) / ((2*behind+before)/rises[i-1] + (2*before+behind)/rises[i])
		}
	}
	return func(i int, part float64) float64 {
		length, rest := ends[i+1]-ends[i], 1-part
		return rest*rest*(1+2*part)*shares[i] + part*part*(1+2*rest)*shares[i+1] + part*rest*length*(rest*slopes[i]-part*slopes[i+1])
	}
}

// short5 is a share as people paste it.
func short5(share float64) float64 { return math.Round(share*1e5) / 1e5 }

// cells says where cells of ages end: the first at floor, the last at the highest age at which something was seen to have happened.
func cells(spans []span, floor, part float64) []float64 {
	usual := lengths(spans)
	var ages []float64
	highest := floor
	for _, s := range spans {
		if s.finite() {
			highest = max(highest, s.until)
		}
	}
	for _, s := range spans {
		for _, age := range []float64{s.from, s.until} {
			if age > floor && age <= highest {
				ages = append(ages, age)
			}
		}
	}
	slices.Sort(ages)
	ends := []float64{math.Ceil(floor)}
	add := func(n int) {
		if n == 0 {
			return
		}
		end, last := math.Ceil(ages[n-1]), ends[len(ends)-1]
		if end > last && (end >= last+part*usual(end) || n == len(ages)) {
			ends = append(ends, end)
		}
	}
	n := min(max(len(spans)/eachCell, minCells), maxCells)
	for i := range n - 1 {
		add((i + 1) * len(ages) / n)
	}
	for rest := len(ages) / n; rest > eachCell; rest -= rest / 2 { // the last of them is long: what is rare has cells, too
		add(len(ages) - rest + rest/2)
	}
	add(len(ages))
	return ends
}

// lengths says how long spans usually are that end at an age: half of those near to it that a check found are shorter.
func lengths(spans []span) func(age float64) float64 {
	var found []span
	for _, s := range spans {
		if s.finite() && !s.reported {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(x, y span) int { return cmp.Compare(x.until, y.until) })
	return func(age float64) float64 {
		i := sort.Search(len(found), func(i int) bool { return found[i].until >= age })
		near := found[max(min(i, len(found))-eachCell, 0):min(i+eachCell, len(found))]
		lengths := make([]float64, 0, len(near))
		for _, s := range near {
			lengths = append(lengths, s.until-s.from)
		}
		return middle(lengths)
	}
}

// middle is the median; 0 of none.
func middle(numbers []float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	return lowest(numbers, len(numbers)/2)
}

// placed is a span over cells: parts of the first and the last of them, and all between.
type placed struct {
	first, last         int
	ofFirst, ofLast     float64
	isReported, isFound bool
}

// place finds the cells of a span. The one behind the last end is for what was never seen to happen.
func place(s span, ends []float64) placed {
	p := placed{isReported: s.reported, isFound: s.finite() && !s.reported}
	if s.until <= ends[0] {
		s.from, s.until = 0, ends[0]
	}
	cell := func(age float64) (int, float64) {
		i := sort.SearchFloat64s(ends, age)
		if i == len(ends) {
			return i, 0
		}
		before := 0.0
		if i > 0 {
			before = ends[i-1]
		}
		return i, (age - before) / (ends[i] - before)
	}
	var below float64
	p.first, below = cell(s.from)
	p.ofFirst = 1 - below
	p.last, p.ofLast = len(ends), 1
	if s.finite() {
		p.last, p.ofLast = cell(s.until)
	}
	if p.first == p.last {
		p.ofFirst = max(p.ofLast-below, 0)
		p.ofLast = 0
	}
	return p
}

// likeliest are the shares of cells, that behind the last end left out, and how much of each was reported.
func likeliest(spans []span, ends []float64) (shares, reported []float64) {
	n := len(ends) + 1
	all := make([]placed, len(spans))
	for i, s := range spans {
		all[i] = place(s, ends)
	}
	shares = make([]float64, n)
	for i := range shares {
		shares[i] = 1 / float64(n)
	}
	expected, between, sums := make([]float64, n), make([]float64, n+1), make([]float64, n+1)
	byApp, byCheck := make([]float64, n), make([]float64, n)
	before := math.Inf(-1)
	for round := 0; ; round++ {
		over := round == rounds
		clear(expected)
		clear(between)
		for i, share := range shares {
			sums[i+1] = sums[i] + share
		}
		likelihood := 0.0
		for _, p := range all {
			first, last, middle := shares[p.first]*p.ofFirst, 0.0, 0.0
			if p.last > p.first {
				last, middle = shares[p.last]*p.ofLast, max(sums[p.last]-sums[p.first+1], 0)
			}
			whole := max(first+last+middle, unlikely/10)
			likelihood += math.Log(whole)
			expected[p.first] += first / whole
			expected[p.last] += last / whole
			if p.last > p.first+1 {
				between[p.first+1] += 1 / whole
				between[p.last] -= 1 / whole
			}
			if over {
				p.tell(byApp, byCheck, shares, whole)
			}
		}
		if over {
			break
		}
		running, sum := 0.0, 0.0
		for i := range shares {
			running += between[i]
			expected[i] += running * shares[i]
			sum += expected[i]
		}
		for i := range shares {
			shares[i] = max(expected[i], 0) / sum
		}
		if gained := (likelihood - before) / float64(len(all)); gained < converged {
			round = rounds - 1
		}
		before = likelihood
	}
	reported = make([]float64, n)
	for i := range reported {
		if both := byApp[i] + byCheck[i]; both > 0 {
			reported[i] = byApp[i] / both
		}
	}
	return shares[:n-1], reported[:n-1]
}

// tell adds what was reported, and what a check found, to the cells.
func (p placed) tell(byApp, byCheck, shares []float64, whole float64) {
	to := byCheck
	switch {
	case p.isReported:
		to = byApp
	case !p.isFound:
		return
	}
	for i := p.first; i <= p.last; i++ {
		part := 1.0
		if i == p.first {
			part = p.ofFirst
		} else if i == p.last {
			part = p.ofLast
		}
		to[i] += shares[i] * part / whole
	}
}

// spansOf has what was seen as it passes in the day of a curve.
func spansOf(c prescient.Curve, all []Seen) []span {
	spans := make([]span, 0, len(all))
	for _, s := range all {
		p := span{from: c.Passed(s.Inserted, duration(s.From)), until: math.Inf(1), reported: s.Reported}
		if s.happened() {
			p.until = max(c.Passed(s.Inserted, duration(s.Until)), p.from+1e-6)
		}
		spans = append(spans, p)
	}
	return spans
}

// likelihoods say how likely a curve holds each of what was seen, as logarithms.
func likelihoods(c prescient.Curve, all []Seen) []float64 {
	each := make([]float64, 0, len(all))
	for _, s := range all {
		from, _ := c.Happened(s.Inserted, duration(s.From))
		until := 1.0
		if s.happened() {
			until, _ = c.Happened(s.Inserted, duration(s.Until))
		}
		each = append(each, math.Log(max(until-from, unlikely)))
	}
	return each
}

// ahead is by how much the first numbers are above the others on average, and how far that may be by chance.
func ahead(these, those []float64) (mean, chance float64) {
	if len(these) == 0 {
		return 0, 0
	}
	n, squares := float64(len(these)), 0.0
	for i := range these {
		mean += (these[i] - those[i]) / n
		squares += (these[i] - those[i]) * (these[i] - those[i]) / n
	}
	return mean, math.Sqrt(max(squares-mean*mean, 0) / n)
}

// lowest is the nth lowest of some numbers.
func lowest(numbers []float64, n int) float64 {
	numbers = slices.SortedFunc(slices.Values(numbers), cmp.Compare)
	return numbers[min(n, len(numbers)-1)]
}
