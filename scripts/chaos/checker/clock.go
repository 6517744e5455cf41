package checker

import "time"

// clock is the database's clock by ours: what it told, and when.
type clock []Event

// at returns bounds of the database's time at a moment, from what it told before and after. Where it was set in
// between, low is the earlier of what would follow from both, and high the later.
func (c clock) at(moment time.Duration) (low, high time.Time) {
	next := 0
	for next < len(c) && c[next].At <= moment {
		next++
	}
	for _, i := range []int{next - 1, next} {
		if i < 0 || i >= len(c) {
			continue
		}
		told := c[i]
		// It was told somewhere between the question and the answer.
		soonest := told.Told.Add(moment - told.At)
		latest := told.Told.Add(moment - told.At + told.Took)
		if low.IsZero() || soonest.Before(low) {
			low = soonest
		}
		if high.IsZero() || latest.After(high) {
			high = latest
		}
	}
	return low, high
}

// highest returns the latest time that it may have shown at a moment, or in the time before it: where it is set back, what began by then goes on.
func (c clock) highest(moment, before time.Duration) time.Time {
	_, highest := c.at(moment)
	for _, told := range c {
		if told.At > moment {
			break
		}
		if told.At > moment-before {
			if _, high := c.at(told.At - 1); high.After(highest) {
				highest = high
			}
		}
	}
	return highest
}

// momentOf returns a moment at which the database's time was surely over: the next at which it told a later one, or the last there is.
func (c clock) momentOf(t time.Time, last time.Duration) time.Duration {
	for _, told := range c {
		if !told.Told.Before(t) {
			return told.At
		}
	}
	return last
}
