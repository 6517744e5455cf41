package store

import (
	"cmp"
	"slices"
	"testing"
	"time"
)

func TestStretchesGrowWhileTheyFit(t *testing.T) {
	start := time.Date(2026, time.November, 26, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		s    Stretches
		each time.Duration // a thousand rows take
		want []int
	}{
		"until there were enough":            {Stretches{most: 80_000}, time.Millisecond, []int{1000, 4000, 16000, 59000}},
		"as long as the longest":             {Stretches{most: 300_000}, 0, []int{1000, 4000, 16000, 64000, 64000, 64000, 64000, 23000}},
		"no longer than they may be":         {Stretches{most: 30_000, longest: 10_000}, 0, []int{1000, 4000, 10000, 10000, 5000}},
		"until the time is over":             {Stretches{most: 300_000, within: 100 * time.Millisecond}, time.Millisecond, []int{1000, 4000, 16000, 64000, 15000}},
		"where one takes all the time":       {Stretches{most: 300_000, within: 100 * time.Millisecond}, time.Second, []int{1000}},
		"where the next would take too long": {Stretches{most: 300_000, within: 100 * time.Millisecond}, 40 * time.Millisecond, []int{1000, 1500}},
	} {
		s, now, got := NewStretches(FirstStretch, test.s.most, test.s.within, start).UpTo(cmp.Or(test.s.longest, test.s.most)), start, []int(nil)
		for len(got) < 20 {
			n := s.Take(now)
			got = append(got, n)
			now = now.Add(time.Duration(n) * test.each / 1000)
			if s.Over(now) {
				break
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %d; want %d", name, got, test.want)
		}
	}
}
