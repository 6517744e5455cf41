package store

import "time"

const (
	// FirstStretch is how many rows a search looks at first; each stretch after it has stretchGrowth times as many, up to LongestStretch. What is frequent
	// is found in the first.
	FirstStretch   = 1000
	stretchGrowth  = 4
	LongestStretch = 64000
)

// Stretches says how many rows a list looks at next: in all up to so many, and where it has a bound in time no longer than that, about.
type Stretches struct {
	looked, first, next, most, longest int
	began                              time.Time
	within                             time.Duration
}

// NewStretches is for up to most rows, of which it begins with first. Without a bound in time, within is 0.
func NewStretches(first, most int, within time.Duration, now time.Time) *Stretches {
	return &Stretches{first: first, next: first, most: most, longest: most, began: now, within: within}
}

// UpTo has none of them be longer.
func (s *Stretches) UpTo(longest int) *Stretches {
	s.longest = longest
	return s
}

// Take is the next stretch. Where there is a bound in time, it is as long as what is left of that allows by what was seen.
func (s *Stretches) Take(now time.Time) int {
	n := min(s.next, s.longest, s.most-s.looked)
	if took := now.Sub(s.began); s.within > 0 && s.looked > 0 && took > 0 {
		n = min(n, max(s.first, int(float64(s.looked)*float64(s.within-took)/float64(took))))
	}
	s.looked += n
	s.next = min(s.next*stretchGrowth, LongestStretch)
	return n
}

// Over says whether that was enough.
func (s *Stretches) Over(now time.Time) bool {
	return s.looked >= s.most || s.within > 0 && now.Sub(s.began) >= s.within
}

// Looked is how many rows were taken.
func (s *Stretches) Looked() int { return s.looked }
