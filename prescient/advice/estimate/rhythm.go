package estimate

import (
	"math"
	"time"

	"prescient/prescient"
)

const (
	// dayParts are those of a day that are told apart: half an hour each.
	dayParts   = 48
	partLength = 24 * 3600.0 / dayParts
	// rhythmChecks are looked at at most, and those that are known to half a day.
	rhythmChecks = 3000
	longestKnown = 36 * 3600.0
	rhythmRounds = 40
	// clearer is how much likelier, as a logarithm for each check, a rhythm makes what it was not made of. It has to be clear.
	clearer = 0.02
)

// rhythm is how likely something happens in each part of the day that has not happened yet, against the mean: what is left of it where age plays no part.
// nil where nothing can be said.
func rhythm(all []Seen) []float64 {
	var rate [dayParts]float64
	known := all[:0:0]
	for _, s := range all[:min(len(all), rhythmChecks)] {
		if s.happened() && s.Until-s.From <= longestKnown {
			known = append(known, s)
		}
	}
	if len(known) == 0 {
		return nil
	}
	var exposed [dayParts]float64 // before it can have happened
	for _, s := range known {
		each(s.Inserted, 0, s.From, func(part int, length float64) { exposed[part] += length })
	}
	mean := 1.0 / (24 * 3600)
	for i := range rate {
		rate[i] = mean
	}
	for range rhythmRounds {
		var events [dayParts]float64
		at := exposed
		for _, s := range known {
			share(s, &rate, &events, &at)
		}
		var eventSum, atSum float64
		for i := range events {
			eventSum, atSum = eventSum+events[i], atSum+at[i]
		}
		mean = eventSum / atSum
		for i := range rate { // half an event of the mean is added, so that nothing is held to be impossible
			rate[i] = (events[i] + 0.5) / (at[i] + 0.5/mean)
		}
	}
	sum := 0.0
	for _, r := range rate {
		sum += r
	}
	parts := make([]float64, dayParts)
	for i, r := range rate {
		parts[i] = math.Ceil(r*dayParts/sum*1000) / 1000
	}
	return parts
}

// share divides one happening over the parts of the day in which it may have been, and the time before it over those that it was waited in.
func share(s Seen, rate, events, at *[dayParts]float64) {
	var whole, gone float64
	left := 1.0
	each(s.Inserted, s.From, s.Until, func(part int, length float64) {
		stays := math.Exp(-rate[part] * length)
		whole += left * (1 - stays)
		left *= stays
	})
	left = 1
	each(s.Inserted, s.From, s.Until, func(part int, length float64) {
		stays := math.Exp(-rate[part] * length)
		here := 0.0
		if whole > 0 {
			here = left * (1 - stays) / whole
		}
		events[part] += here
		at[part] += length * max(1-gone-here/2, 0)
		gone += here
		left *= stays
	})
}

// each calls do with each part of the day between two ages.
func each(inserted time.Time, from, until float64, do func(part int, length float64)) {
	since := math.Mod(float64(inserted.UnixMicro())/1e6, 24*3600)
	if since < 0 {
		since += 24 * 3600
	}
	for at := since + from; at < since+until; {
		n := math.Floor(at / partLength)
		end := min((n+1)*partLength, since+until)
		do(int(n)%dayParts, end-at)
		if end <= at {
			return
		}
		at = end
	}
}

// parts are how long cells of ages are at least, as parts of the spans that end there: the first is the coarsest.
var parts = [...]float64{1, 0.5, 0.25, 0}

// shape finds the curve of what was seen. Each half, every other check, says of the curve of the other how finely it tells ages apart, and whether it has
// the rhythm of a day: of checks that all come at about the same ages, fine cells would be of chance, and a plan would be made by that.
func shape(all []Seen, firsts []Seen, floorOf int) prescient.Curve {
	var halves [2][]Seen
	for i, s := range all {
		halves[i%2] = append(halves[i%2], s)
	}
	finest := func(days [2][]float64) (part float64, likely []float64) {
		for _, finer := range parts {
			var by []float64
			for i, half := range halves {
				by = append(by, likelihoods(fitted(days[i], half, firsts, floorOf, finer), halves[1-i])...)
			}
			if likely == nil {
				part, likely = finer, by
			} else if more, chance := ahead(by, likely); more > chance/2 {
				part, likely = finer, by
			}
		}
		return part, likely
	}
	part, likely := finest([2][]float64{})
	if days := [2][]float64{rhythm(halves[0]), rhythm(halves[1])}; days[0] != nil && days[1] != nil {
		ofDay, by := finest(days)
		if more, _ := ahead(by, likely); more > clearer {
			return fitted(rhythm(all), all, firsts, floorOf, ofDay)
		}
	}
	return fitted(nil, all, firsts, floorOf, part)
}

// fitted is the curve of what was seen, with cells that are so long.
func fitted(day []float64, some, firsts []Seen, floorOf int, part float64) prescient.Curve {
	c := prescient.Curve{Day: day, Price: 1}
	first := make([]float64, 0, len(firsts))
	for _, s := range firsts {
		first = append(first, c.Passed(s.Inserted, duration(s.From)))
	}
	c.Points = fit(spansOf(c, some), max(lowest(first, floorOf), 1), part)
	return c
}
