package estimate

import (
	"math"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

const (
	// nothingLeft is a share of which it is no longer asked when it happens.
	nothingLeft = 1e-5
	// mostAges are told of at most.
	mostAges = 2000
)

// hour is an hour of the day in which checks are inserted.
type hour struct {
	at    time.Time
	share float64
}

// hours are those that a curve makes a difference of.
func hours(c prescient.Curve, all []Seen) []hour {
	if len(c.Day) == 0 {
		return []hour{{all[0].Inserted, 1}}
	}
	var counts [24]int
	var latest time.Time
	for _, s := range all {
		counts[s.Inserted.UTC().Hour()]++
		latest = slots.Later(latest, s.Inserted)
	}
	day := latest.UTC().Truncate(24 * time.Hour)
	var list []hour
	for h, n := range counts {
		if n > 0 {
			list = append(list, hour{day.Add(time.Duration(h)*time.Hour + 30*time.Minute), float64(n) / float64(len(all))})
		}
	}
	return list
}

// price finds the lowest at which checks are late enough, and says what they come to. A higher price makes more calls, and less lateness.
func (a *Advice) price(q Question, all []Seen) {
	inserts := hours(*a.Curve, all)
	halfSlot := q.Slot.Seconds() / 2
	target := q.Late.Seconds()
	if q.Late <= 0 {
		target = a.Now.LateSeconds
	}
	target *= 1 + slack
	at := func(price float64) Cost {
		c := *a.Curve
		c.Price = price
		var sum Cost
		found := 0.0
		for _, h := range inserts {
			plan := c.Plan(h.at, q.Distances)
			sum.Calls += h.share * plan.Calls
			sum.LateSeconds += h.share * plan.Found * plan.Late.Seconds()
			found += h.share * plan.Found
		}
		if sum.LateSeconds /= max(found, unlikely); found > 0 {
			sum.LateSeconds += halfSlot
		}
		return sum
	}
	low, high := math.Log(1e-4), math.Log(1e4)
	if a.Advised = at(math.Exp(high)); a.Advised.LateSeconds > target {
		a.OutOfReach = true
	} else {
		for range 24 {
			middle := (low + high) / 2
			if c := at(math.Exp(middle)); c.LateSeconds <= target {
				high, a.Advised = middle, c
			} else {
				low = middle
			}
		}
	}
	digits := math.Pow(10, math.Floor(high/math.Ln10)-4)
	a.Curve.Price = math.Ceil(math.Exp(high)/digits) * digits
	a.say(inserts, q)
}

// say fills in what the advised checks come to, with their ages, and the guard.
func (a *Advice) say(inserts []hour, q Question) {
	a.Advised = Cost{}
	most, found := 0.0, 0.0
	for _, h := range inserts {
		w := walk(*a.Curve, h.at, q)
		a.Advised.Calls += h.share * w.calls
		a.Advised.LateSeconds += h.share * w.late
		found += h.share * w.found
		a.MaxChecks = max(a.MaxChecks, len(w.ages))
		if h.share > most {
			most = h.share
			a.Ages, a.NextIn, a.Example = w.ages, w.nextIn, &h.at
		}
	}
	a.Advised.LateSeconds /= max(found, unlikely)
}

// walked are the checks that are advised for one, and what they come to.
type walked struct {
	ages, nextIn       []int64
	calls, late, found float64 // late is of what is found
}

// walk asks check after check, as a job_exec does: each comes half a slot later than asked for, on average, and the next is asked for then. What has not
// happened where the curve ends is looked for once more, which is what the guard allows.
func walk(c prescient.Curve, inserted time.Time, q Question) (w walked) {
	last := inserted.Add(duration(2 * float64(c.Points[len(c.Points)-1].AgeSeconds)))
	end, told := c.Happened(inserted, last.Sub(inserted))
	all := end - told
	age, happened, reported := time.Duration(0), 0.0, 0.0
	for len(w.ages) == 0 || all-happened+reported > nothingLeft && len(w.ages) < mostAges {
		in := prescient.Advised(c, inserted, inserted.Add(age), q.Distances).Sub(inserted.Add(age))
		next := age + in + q.Slot/2
		by, told := c.Happened(inserted, next)
		w.calls += max(1-happened-told+reported, 0)
		const steps = 16
		before := happened - reported
		for i := range steps { // what is found in each of these waits for the end of all of them
			then, ofThem := c.Happened(inserted, age+(next-age)*time.Duration(i+1)/steps)
			w.late += (then - ofThem - before) * (next - age).Seconds() * (1 - (float64(i)+0.5)/steps)
			before = then - ofThem
		}
		age, happened, reported = next, by, told
		w.ages, w.nextIn = append(w.ages, int64(math.Ceil(age.Seconds()))), append(w.nextIn, int64(math.Ceil(in.Seconds())))
	}
	w.calls += 1 - end
	w.found = all
	return w
}
