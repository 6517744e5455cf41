package prescient

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"
)

// Curve says when what checks wait for usually happens. The command advise makes one of history; it is a value, of code or of JSON.
type Curve struct {
	// Points are what has happened by an age, which counts from the insert; ages ascend. Between two points a share grows evenly.
	Points []CurvePoint `json:"points"`
	// Day are the parts of a day, from midnight UTC on, each as long as the others: how much of what happens in a day happens in it. The ages
	// of Points then pass faster in a part that has more, and a day is a day. Empty where all parts are alike.
	Day []float64 `json:"day,omitempty"`
	// FirstSeconds is the earliest first check that is advised: nothing is known of what happens before.
	FirstSeconds int64 `json:"first_seconds"`
	// Price is how many calls an hour of lateness is worth.
	Price float64 `json:"price"`
}

// CurvePoint is what has happened by an age. Reported is the part of it that the app reports itself, by a cancel; a check finds the rest.
type CurvePoint struct {
	AgeSeconds int64   `json:"age_seconds"`
	Happened   float64 `json:"happened"`
	Reported   float64 `json:"reported,omitempty"`
}

// Distances bound how far one check is from the next. Least is a minute by default, and Most as long as the default horizon.
type Distances struct{ Least, Most time.Duration }

// Plan are the checks that a curve advises, and what they come to for a check that is inserted.
type Plan struct {
	// Ages of the checks. Beyond the last one nothing is known, and Advised goes on at a quarter of the age.
	Ages []time.Duration
	// Calls are those of a check, on average. Found is the share of what checks find, and Late how long after it happened they find it.
	Calls, Found float64
	Late         time.Duration
}

const (
	maxCurvePoints = 500
	maxDayParts    = 24 * 60
	daySeconds     = 24 * 60 * 60
	// planSteps are the ages that are tried, half of them evenly and half of them in growing distances, beside those of the points.
	planSteps = 100
	// nothingLeft is a share of which it is no longer asked when it happens.
	nothingLeft = 1e-6
)

// Advised is when to look next for what had not happened by now: the time at which calls and lateness cost least by the curve. Zero distances
// mean their defaults. It is after now, and bounded by the distances; a first check comes no sooner than FirstSeconds. Beyond the curve, and
// where it is not valid, the distance is a quarter of the age. It is a pure function:
//
//	return prescient.At(prescient.Advised(shipped, job.InsertedAt, job.CalledAt, prescient.Distances{})), nil
func Advised(c Curve, inserted, now time.Time, d Distances) time.Time {
	d = d.orDefault()
	age := max(now.Sub(inserted), 0)
	in := min(max(age/4, d.Least), d.Most)
	if c.Validate() == nil {
		if ages := c.course(inserted, age, d).best(c.Price, d); len(ages) > 0 {
			in = min(max(seconds(ages[0])-age, d.Least), d.Most)
		}
		if age < c.first() {
			in = max(in, c.first()-age)
		}
	}
	return now.Add(in)
}

// Plan is what Advised comes to, one check after the other, for a check that is inserted at a time. The curve has to be valid.
func (c Curve) Plan(inserted time.Time, d Distances) Plan {
	d = d.orDefault()
	way := c.course(inserted, 0, d)
	var p Plan
	from, late := 0.0, 0.0
	for _, age := range way.best(c.Price, d) {
		calls, waited := cost(way.at(from), way.at(age))
		p.Ages, p.Calls, late, from = append(p.Ages, seconds(age)), p.Calls+calls, late+waited, age
	}
	last := way.nodes[len(way.nodes)-1]
	if p.Found = last.found(); p.Found > 0 {
		p.Late = seconds(late / p.Found)
	}
	return p
}

// Validate returns an error that wraps ErrInvalid and names what no curve has.
func (c Curve) Validate() error {
	if len(c.Points) == 0 || len(c.Points) > maxCurvePoints {
		return fmt.Errorf("%w: a curve has %d points: 1 to %d are allowed", ErrInvalid, len(c.Points), maxCurvePoints)
	}
	var before CurvePoint
	for _, p := range c.Points {
		switch {
		case p.AgeSeconds <= before.AgeSeconds || seconds(float64(p.AgeSeconds)) > MaxHorizon:
			return fmt.Errorf("%w: a curve has an age of %d s behind one of %d s: ages ascend from 1 s to %s", ErrInvalid, p.AgeSeconds, before.AgeSeconds, MaxHorizon)
		case !(p.Reported >= before.Reported && p.Happened-p.Reported >= before.Happened-before.Reported-2e-5 && p.Happened <= 1+1e-9):
			return fmt.Errorf("%w: at %d s a curve has %v happened and %v reported: shares grow up to 1, and so does what is not reported", ErrInvalid, p.AgeSeconds, p.Happened, p.Reported)
		}
		before = p
	}
	sum := 0.0
	for _, part := range c.Day {
		if !(part >= 0) {
			return fmt.Errorf("%w: a part of a curve's day is %v: 0 and more are allowed", ErrInvalid, part)
		}
		sum += part
	}
	switch {
	case len(c.Day) > maxDayParts || len(c.Day) > 0 && !(sum > 0 && sum < math.MaxFloat32):
		return fmt.Errorf("%w: a curve's day has %d parts, which sum up to %v: up to %d parts are allowed, and one of them is above 0", ErrInvalid, len(c.Day), sum, maxDayParts)
	case c.FirstSeconds < 0 || seconds(float64(c.FirstSeconds)) > MaxHorizon:
		return fmt.Errorf("%w: a curve's first check is after %d s: 0 to %s are allowed", ErrInvalid, c.FirstSeconds, MaxHorizon)
	case !(c.Price > 0 && c.Price < math.MaxFloat32):
		return fmt.Errorf("%w: a curve's price is %v calls an hour: more than 0 is allowed", ErrInvalid, c.Price)
	}
	return nil
}

func (d Distances) orDefault() Distances {
	if d.Least <= 0 {
		d.Least = time.Minute
	}
	if d.Most <= 0 {
		d.Most = DefaultGuards().Horizon
	}
	d.Most = max(d.Most, d.Least)
	return d
}

func (c Curve) first() time.Duration { return time.Duration(c.FirstSeconds) * time.Second }

// seconds is a duration of so many, if need be the longest that there may be.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, 2*MaxHorizon.Seconds()) * float64(time.Second))
}

// course is a curve as one check meets it, from an age on.
type course struct{ nodes []node }

// node is an age of a check, in seconds.
type node struct {
	age, happened, reported float64
	area                    float64 // below what was found up to that age: lateness is a difference of areas
}

func (n node) found() float64 { return n.happened - n.reported }

// course has the ages that are tried: the first node is where it begins, the last one where the curve ends.
func (c Curve) course(inserted time.Time, from time.Duration, d Distances) course {
	day := newRhythm(c.Day)
	since := float64(inserted.UnixMicro()) / 1e6
	began := day.passed(since)
	start := from.Seconds()
	last := max(day.when(began+float64(c.Points[len(c.Points)-1].AgeSeconds))-since, c.first().Seconds())
	ages := []float64{start}
	add := func(age float64) {
		if age >= max(start+d.Least.Seconds(), c.first().Seconds()) && age < last {
			ages = append(ages, age)
		}
	}
	for _, p := range c.Points {
		add(day.when(began+float64(p.AgeSeconds)) - since)
	}
	length := last - start
	for i := range planSteps / 2 {
		part := float64(i+1) / (planSteps / 2)
		add(start + length*part)
		add(start + length*math.Pow(1000, part-1))
	}
	add(c.first().Seconds())
	add(start + d.Least.Seconds())
	slices.Sort(ages)
	ages = slices.Compact(append(ages, max(last, ages[len(ages)-1])))
	var way course
	for _, age := range ages {
		n := node{age: age}
		n.happened, n.reported = c.by(day.passed(since+age) - began)
		if len(way.nodes) > 0 {
			before := way.nodes[len(way.nodes)-1]
			n.area = before.area + (n.age-before.age)*(n.found()+before.found())/2
		}
		way.nodes = append(way.nodes, n)
	}
	return way
}

// by is what has happened by an age of the points, and what of that was reported.
func (c Curve) by(age float64) (happened, reported float64) {
	i := sort.Search(len(c.Points), func(i int) bool { return float64(c.Points[i].AgeSeconds) > age })
	var before CurvePoint
	if i > 0 {
		before = c.Points[i-1]
	}
	if i == len(c.Points) {
		return before.Happened, before.Reported
	}
	part := max(age-float64(before.AgeSeconds), 0) / float64(c.Points[i].AgeSeconds-before.AgeSeconds)
	return before.Happened + part*(c.Points[i].Happened-before.Happened), before.Reported + part*(c.Points[i].Reported-before.Reported)
}

// Passed is how much of the ages of Points has passed, in seconds, when a check that was inserted at a time has an age.
func (c Curve) Passed(inserted time.Time, age time.Duration) float64 {
	day := newRhythm(c.Day)
	since := float64(inserted.UnixMicro()) / 1e6
	return day.passed(since+age.Seconds()) - day.passed(since)
}

// Happened is the share that has happened by an age, and what of that was reported, of checks that were inserted at a time.
func (c Curve) Happened(inserted time.Time, age time.Duration) (happened, reported float64) {
	return c.by(c.Passed(inserted, age))
}

// cost is what a check comes to that follows another: the share of calls, and the lateness in seconds of what it finds.
func cost(from, to *node) (calls, late float64) {
	return max(1-from.happened-to.reported+from.reported, 0), max(to.area-from.area-(from.happened-from.reported)*(to.age-from.age), 0)
}

// at is the node of an age.
func (w course) at(age float64) *node {
	i := sort.Search(len(w.nodes), func(i int) bool { return w.nodes[i].age >= age })
	return &w.nodes[min(i, len(w.nodes)-1)]
}

// best are the ages of the checks that cost least, from the end of the curve back to where it begins; none where there is nothing left to find.
func (w course) best(price float64, d Distances) (ages []float64) {
	n := len(w.nodes)
	if w.nodes[n-1].found()-w.nodes[0].found() < nothingLeft {
		return nil
	}
	least, follows := make([]float64, n), make([]int, n)
	nearest, farthest := d.Least.Seconds(), d.Most.Seconds()
	for i := n - 2; i >= 0; i-- {
		from := &w.nodes[i]
		least[i] = math.Inf(1)
		for j := i + 1; j < n; j++ {
			to := &w.nodes[j]
			if distance := to.age - from.age; distance < nearest && j < n-1 {
				continue
			} else if distance > farthest && follows[i] > 0 {
				break
			}
			calls, late := cost(from, to)
			if sum := calls + price*late/3600 + least[j]; sum <= least[i] {
				least[i], follows[i] = sum, j
			} else if price*late/3600 > least[i] {
				break // it grows with the distance
			}
		}
	}
	for i := follows[0]; i > 0; i = follows[i] {
		ages = append(ages, w.nodes[i].age)
	}
	return ages
}

// rhythm is how time passes in a day: sums are the seconds of it that have passed by the end of each part.
type rhythm struct{ sums []float64 }

func newRhythm(parts []float64) rhythm {
	var d rhythm
	sum := 0.0
	for _, part := range parts {
		sum += part
		d.sums = append(d.sums, sum)
	}
	for i := range d.sums {
		d.sums[i] *= daySeconds / sum
	}
	return d
}

// passed is how much has passed by a time, both in seconds since 1970.
func (d rhythm) passed(at float64) float64 {
	if len(d.sums) == 0 {
		return at
	}
	whole := math.Floor(at/daySeconds) * daySeconds
	length := daySeconds / float64(len(d.sums))
	i := min(int((at-whole)/length), len(d.sums)-1)
	before := 0.0
	if i > 0 {
		before = d.sums[i-1]
	}
	return whole + before + (d.sums[i]-before)*((at-whole)/length-float64(i))
}

// when is the first time by which so much has passed.
func (d rhythm) when(passed float64) float64 {
	if len(d.sums) == 0 {
		return passed
	}
	whole := (math.Ceil(passed/daySeconds) - 1) * daySeconds
	length := daySeconds / float64(len(d.sums))
	i := min(sort.SearchFloat64s(d.sums, passed-whole-1e-3), len(d.sums)-1) // a microsecond is what such numbers tell
	before := 0.0
	if i > 0 {
		before = d.sums[i-1]
	}
	part := 0.0
	if d.sums[i] > before {
		part = min((passed-whole-before)/(d.sums[i]-before), 1)
	}
	return whole + (float64(i)+part)*length
}
