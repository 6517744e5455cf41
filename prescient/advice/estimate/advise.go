package estimate

import (
	"fmt"
	"math"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

// Question is what is asked of the checks of a job_exec.
type Question struct {
	// Late is how late checks may find what happened, on average; as late as they do where it is zero.
	Late time.Duration
	// Slot is the distance of slots: a time is rounded up to one, half of it on average.
	Slot time.Duration
	// Distances bound those that are advised; Least is a slot at least.
	Distances prescient.Distances
	// Least is how many happenings checks must have found, MinFound by default; from fewer there is no advice.
	Least int
}

// slack is by how much advice may be later than asked for: it goes in steps, and an estimate is no better.
const slack = 0.01

// MinFound is how many happenings advice is from at least.
const MinFound = 100

// Advice is when the awaited thing happens, and at which ages it is best looked for.
type Advice struct {
	// Checks are those of which something is known. Checks Found that it had happened, or apps Reported it; the others are open: that it happened was not seen.
	Checks   int `json:"checks"`
	Found    int `json:"found"`
	Reported int `json:"reported"`
	// Learned of those that had several checks say when they were, and Regular how many of them kept to that.
	Learned int `json:"learned"`
	Regular int `json:"regular"`
	// Ended checks were AtGuard, ended by max_checks, and Near, one answer from as many as these had.
	Ended   int `json:"ended"`
	AtGuard int `json:"at_guard"`
	Near    int `json:"near_guard"`
	// None says why there is no advice; then the rest is empty.
	None string `json:"none,omitempty"`
	// Curve is the value that prescient.Advised takes.
	Curve *prescient.Curve `json:"curve,omitempty"`
	// Now is what checks come to as they are, Advised what they come to by the curve: both where workers are punctual.
	Now     Cost `json:"now"`
	Advised Cost `json:"advised"`
	// WorkersLate is by how much workers found it later than its slot, in seconds, on average.
	WorkersLate float64 `json:"workers_late_seconds"`
	// Apart are the two checks between which something happened, in seconds, on average: in between it is taken to happen as before and behind.
	Apart float64 `json:"apart_seconds"`
	// Guessed is the share of what was found between two checks with several of the advised ones between them: when it happened in there is a guess.
	Guessed float64 `json:"guessed"`
	// Differ is when the later half of the checks was inserted, where what they wait for, or when they look, is clearly not as of the earlier half.
	Differ *time.Time `json:"differ,omitempty"`
	// FirstNow is the age at which half of them are checked first as they are, in seconds.
	FirstNow int64 `json:"first_now_seconds"`
	// OutOfReach says that nothing is as early as was asked for: Advised is as early as can be.
	OutOfReach bool `json:"out_of_reach,omitempty"`
	// Ages of the checks that are advised, in seconds, half a slot behind those that are asked for; NextIn is how long ahead each is asked for at the
	// one before. Where the day counts, they are of one that is inserted at Example.
	Ages    []int64    `json:"ages_seconds,omitempty"`
	NextIn  []int64    `json:"next_in_seconds,omitempty"`
	Example *time.Time `json:"example,omitempty"`
	// MaxChecks is the guard that leaves room for them.
	MaxChecks int `json:"max_checks,omitempty"`
}

// Cost is how many calls a check has, but for errors, and how late its happening is found, on average.
type Cost struct {
	Calls       float64 `json:"calls"`
	LateSeconds float64 `json:"late_seconds"`
}

// Advise makes advice of checks of one job_exec and kind of entity.
func Advise(checks []Check, q Question) Advice {
	q.Distances.Least = max(q.Distances.Least, q.Slot)
	if q.Least <= 0 {
		q.Least = MinFound
	}
	learned := Learn(checks, q.Slot)
	a := Advice{Learned: learned.Of, Regular: learned.Regular}
	a.guard(checks)
	var all, firsts []Seen
	for _, c := range checks {
		if c.called() {
			firsts = append(firsts, Seen{Inserted: c.Inserted, From: slots.Earlier(c.FirstSlot, c.Slot).Sub(c.Inserted).Seconds()})
		}
		s, known := learned.See(c, q.Slot)
		if !known {
			continue
		}
		all = append(all, s)
		switch {
		case s.Reported:
			a.Reported++
		case s.happened():
			a.Found++
		}
	}
	if a.Checks = len(all); a.Found < q.Least {
		a.None = fmt.Sprintf("checks found %d happenings; advice is from %d at least", a.Found, q.Least)
		return a
	}
	if 2*a.Regular < a.Learned {
		a.None = fmt.Sprintf("distances differ: %d of %d checks are regular, and of the others it is not known when the earlier ones were", a.Regular, a.Learned)
		return a
	}
	outliers := max(len(firsts)/200, 4)
	curve := shape(all, firsts, outliers)
	waits := make([]float64, 0, len(firsts))
	for _, s := range firsts {
		waits = append(waits, s.From)
	}
	curve.FirstSeconds = int64(math.Ceil(max(lowest(waits, outliers), 0)))
	a.Now.Calls = usualCalls(checks)
	a.Now.LateSeconds, a.WorkersLate, a.Apart = lateness(curve, all)
	a.FirstNow = int64(max(middle(waits), 0))
	a.Curve = &curve
	a.price(q, all)
	a.Guessed = guessed(a.Ages, *a.Example, curve, all)
	if a.Differ = differ(all, firsts, outliers); len(curve.Day) == 0 {
		a.Example = nil
	}
	return a
}
