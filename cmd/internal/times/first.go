package times

import (
	"iter"
	"time"
)

// First are the first of a row of times, count of them at most; none of a nil one.
func First(all iter.Seq[time.Time], count int) (list []time.Time) {
	if all == nil || count < 1 {
		return nil
	}
	for at := range all {
		if list = append(list, at); len(list) == count {
			break
		}
	}
	return list
}
