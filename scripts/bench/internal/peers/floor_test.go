package peers

import (
	"bytes"
	"testing"
)

func TestTheRangesOfTheFloorHoldEveryKeyOnce(t *testing.T) {
	for _, ranges := range []int{1, 2, 3, 4, 25, 1000} {
		next := make([]byte, 16)
		for i := range ranges {
			first, last := keyRange(i, ranges)
			if !bytes.Equal(first, next) || bytes.Compare(first, last) >= 0 {
				t.Errorf("range %d of %d is %x to %x; want it to begin at %x", i, ranges, first, last, next)
			}
			next = bytes.Clone(last)
			for at := len(next) - 1; at >= 0; at-- {
				if next[at]++; next[at] != 0 {
					break
				}
			}
		}
		if !bytes.Equal(next, make([]byte, 16)) {
			t.Errorf("%d ranges end before %x", ranges, next)
		}
	}
}
