package pace

import "time"

// Ledger is what the ledger of a slot says when a run looks.
type Ledger struct {
	Buckets  int // that the slot has
	Finished int // of those
	Written  int // rows, by its books
	InThose  int // of them, those of finished buckets
	Largest  int // the most rows that a bucket has written
}

// remains estimates how many rows are not written yet. Keys are hashes, so that all buckets have about as many; while none has
// ended, one has guess, or more where it has written more already.
func (l Ledger) remains(guess int) int {
	if guess = max(guess, l.Largest); l.Finished > 0 {
		guess = l.InThose / l.Finished
	}
	open := l.Buckets - l.Finished
	if open == 0 {
		return 0
	}
	return max(open*guess-(l.Written-l.InThose), open)
}

// Progress turns looks at the ledger into what a run decides by.
type Progress struct {
	guess int           // rows of a bucket, before any has ended
	until time.Duration // when the slot is to have ended, since the run began
	rate  rate
}

// NewProgress is that of a run which begins now and is to end within a time. A bucket has about guess rows, as far as anybody
// knows; before is what the ledger says at the beginning.
func NewProgress(guess int, within time.Duration, before Ledger) *Progress {
	return &Progress{guess: guess, until: within, rate: rate{{0, before.Written}}}
}

// rate is what the last looks say.
type rate []look

type look struct {
	at      time.Duration
	written int
}

// The rate is over so many looks at least, and over so long: a commit and its rest take up to a fifth of a second.
const (
	looksBack = 2
	longBack  = 250 * time.Millisecond
)

// at takes a look, and returns how many rows a second were written lately.
func (r *rate) at(now time.Duration, written int) float64 {
	looks := *r
	for len(looks) > looksBack && now-looks[1].at >= longBack {
		looks = looks[1:]
	}
	*r = append(looks, look{now, written})
	if first := looks[0]; now > first.at {
		return float64(written-first.written) / (now - first.at).Seconds()
	}
	return 0
}

// Seen returns what a look says that was taken at a time since the run began.
func (p *Progress) Seen(at time.Duration, l Ledger) Seen {
	return Seen{Remains: l.remains(p.guess), Left: p.until - at, Early: at < p.until/4, Rate: p.rate.at(at, l.Written)}
}

const (
	// looks is how often a run looks in the time in which its slot is to end.
	looks = 20
	// often and seldom are how long it waits for the next look at least, and at most.
	often, seldom = 20 * time.Millisecond, time.Second
)

// every is how often to look at a slot that is to end within a time.
func every(within time.Duration) time.Duration { return min(max(within/looks, often), seldom) }

// Within is how long a slot may take by default: a tenth of the distance to the next, between 1 s and 30 s.
func Within(resolution time.Duration) time.Duration {
	return min(max(resolution/10, time.Second), 30*time.Second)
}
