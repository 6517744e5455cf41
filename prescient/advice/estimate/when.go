package estimate

import (
	"time"

	"prescient/prescient"
)

// Inserted is when the check is inserted that ages are told of: the example, where the day counts.
func (a Advice) Inserted() time.Time {
	if a.Example == nil {
		return time.Time{}
	}
	return *a.Example
}

// Happened is how much has happened by an age, of what checks find and of what apps report.
func (a Advice) Happened(age time.Duration) (all, reported float64) {
	return a.Curve.Happened(a.Inserted(), age)
}

// When is the age by which a share of all has happened: never where it is none, and at most that where nothing is known of what is earlier.
func (a Advice) When(share float64) (age time.Duration, never, atMost bool) {
	last := a.Curve.Points[len(a.Curve.Points)-1]
	low, high := 0.0, min(2*float64(last.AgeSeconds), 2*prescient.MaxHorizon.Seconds())
	if by, _ := a.Happened(duration(high)); by < share {
		return 0, true, false
	}
	for range 40 {
		middle := (low + high) / 2
		if by, _ := a.Happened(duration(middle)); by < share {
			low = middle
		} else {
			high = middle
		}
	}
	by, _ := a.Happened(time.Duration(a.Curve.FirstSeconds) * time.Second)
	return duration(high), false, by >= share
}

// Drawn is up to which age a curve is worth drawing: nearly all that happens has by then. Rows may have any times: it is the longest horizon at most.
func (a Advice) Drawn() time.Duration {
	return duration(min(a.length(a.Inserted()), prescient.MaxHorizon.Seconds()))
}
