package estimate

import (
	"math"
	"slices"
	"time"

	"prescient/prescient"
)

// Check is what history, or future_job, has of one: Outcome is empty where it is pending. Ended is when it ended, Started when its last call did, or the zero
// time where none ran.
type Check struct {
	Inserted, FirstSlot, Slot time.Time
	Started, Ended            time.Time
	Answers                   int // later times that it returned
	Outcome                   prescient.Outcome
}

// Seen is what is known of one: at the age From, in seconds, it had not happened, and at Until it had. Until is infinite where it was not seen to.
// What an end says of that age:
//
//	done        between the check before the last one and the last
//	cancelled   just then: the app reports it
//	max_checks, past_return, beyond_horizon   later than the last check
//	any other, or none yet   later than the last check that said so
//
// History has the first slot of a check and its last, and how many answers came before it; not when the checks between were. Those are taken from the
// checks of the same job_exec that ended there: their job_exec returns the same distances. To take the whole time from the first check to the last
// instead would not be careful but wrong: only what came late has had many checks, and the estimate would be too early.
type Seen struct {
	Inserted    time.Time
	From, Until float64
	// Delayed is by how much the check that found it came later than its slot: workers were late.
	Delayed float64
	// Reported says that the app did, at Until.
	Reported bool
}

func (s Seen) happened() bool { return !math.IsInf(s.Until, 1) }

// Learned are the distances of a job_exec, as its checks show them: when after the first slot the check was that gave the nth answer, in seconds.
type Learned struct {
	after []float64
	// Regular is how many of the checks with answers kept to them, within a tenth, or a slot; Of is how many there are.
	Regular, Of int
}

// learnable is how many answers a distance is learned for; farther ones go on evenly.
const learnable = 200

// Learn takes the distances from checks that ended in a call, or wait for one, after so many answers.
func Learn(checks []Check, slot time.Duration) Learned {
	of := make([][]float64, learnable)
	each := func(do func(n int, after float64)) {
		for _, c := range checks {
			if c.Answers > 0 && c.Answers < learnable && !c.Outcome.ByApp() && c.Slot.After(c.FirstSlot) {
				do(c.Answers, c.Slot.Sub(c.FirstSlot).Seconds())
			}
		}
	}
	each(func(n int, after float64) { of[n] = append(of[n], after) })
	l := Learned{after: []float64{0}}
	for n := 1; n < learnable; n++ {
		if len(of[n]) == 0 {
			continue
		}
		slices.Sort(of[n])
		known := len(l.after) - 1
		from := l.after[known]
		to := max(of[n][len(of[n])/2], from+float64(n-known)*slot.Seconds())
		for i := known + 1; i <= n; i++ { // where none ended between, evenly
			l.after = append(l.after, from+(to-from)*float64(i-known)/float64(n-known))
		}
	}
	each(func(n int, after float64) {
		l.Of++
		if l.keeps(n, after, slot.Seconds()) {
			l.Regular++
		}
	})
	return l
}

// keeps says whether a check that had its last call so much after the first slot kept to the distances.
func (l Learned) keeps(n int, last, slot float64) bool {
	return n < len(l.after) && math.Abs(last-l.after[n]) <= max(l.after[n]/10, slot)
}

// lastAnswer is when after the first slot a check was that gave the nth answer, one of a check that had its last call so much after the first slot. One
// that did not keep to the distances had them longer or shorter.
func (l Learned) lastAnswer(n int, last, slot float64) float64 {
	switch {
	case n <= 1 || last <= 0:
		return 0
	case l.keeps(n, last, slot), n == len(l.after): // nobody else had as many
		return min(l.after[n-1], last-slot)
	case n < len(l.after):
		return last * l.after[n-1] / l.after[n]
	}
	return last * float64(n-1) / float64(n)
}

// See says what is known of a check; false where nothing is.
func (l Learned) See(c Check, slot time.Duration) (Seen, bool) {
	age := func(t time.Time) float64 { return max(t.Sub(c.Inserted).Seconds(), 0) }
	s := Seen{Inserted: c.Inserted, Until: math.Inf(1)}
	if c.Answers > 0 && (c.Outcome == "" || !c.Slot.Before(c.FirstSlot)) { // else the app moved it to before its first slot
		s.From = age(c.FirstSlot)
		if last := c.Slot.Sub(c.FirstSlot).Seconds(); last > 0 {
			s.From = max(s.From+l.lastAnswer(c.Answers, last, slot.Seconds()), 0)
		}
	}
	switch {
	case c.Outcome == prescient.Done && !c.Started.IsZero():
		s.Until = max(age(c.Started), 1)
		s.From = min(s.From, s.Until-1)
		s.Delayed = max(c.Started.Sub(c.Slot).Seconds(), 0)
	case c.Outcome == prescient.Cancelled:
		s.Until = max(age(c.Ended), 1)
		s.From, s.Reported = s.Until-1, true
	case (c.Outcome == prescient.MaxChecks || c.Outcome == prescient.PastReturn || c.Outcome == prescient.BeyondHorizon) && !c.Started.IsZero():
		s.From = age(c.Started)
	}
	return s, s.happened() || s.From > 0
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
