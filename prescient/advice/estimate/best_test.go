//go:build !race

package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

// byNight is a batch at 02:00, which takes ten minutes.
func byNight(r *rand.Rand, inserted time.Time) time.Time {
	at := inserted.UTC().Truncate(24 * time.Hour).Add(2 * time.Hour)
	if !at.After(inserted) {
		at = at.Add(24 * time.Hour)
	}
	return at.Add(time.Duration(r.Int64N(int64(10 * time.Minute))))
}

// atWork happens to one in e within four hours of work, which is from 09:00 to 17:00.
func atWork(r *rand.Rand, inserted time.Time) time.Time {
	left := time.Duration(r.ExpFloat64() * float64(4*time.Hour))
	for day := inserted.UTC().Truncate(24 * time.Hour); ; day = day.Add(24 * time.Hour) {
		opens, closes := slots.Later(inserted, day.Add(9*time.Hour)), day.Add(17*time.Hour)
		if opens.Before(closes) {
			if left < closes.Sub(opens) {
				return opens.Add(left)
			}
			left -= closes.Sub(opens)
		}
	}
}

// evenly is the least number of calls for what happens exponentially, at a lateness: at distances d it takes 1/(1-exp(-d)) calls, d·calls - 1 late.
func evenly(mean, late time.Duration) float64 {
	best := math.Inf(1)
	for d := 0.001; d < 20; d += 0.001 {
		if calls := 1 / (1 - math.Exp(-d)); (d*calls-1)*float64(mean) <= float64(late) {
			best = calls
		}
	}
	return best
}

func TestAdviceIsWithinATenthOfTheBest(t *testing.T) {
	hourly := made{first: between(30*time.Minute, 2*time.Hour), every: time.Hour, answers: 500}
	for _, test := range []struct {
		what   string
		of     made
		late   time.Duration
		best   float64
		rhythm bool
	}{
		{"exponential", made{happens: exponentially(6 * time.Hour)}, 90 * time.Minute, evenly(6*time.Hour, 90*time.Minute), false},
		{"exponential, rarely", made{happens: exponentially(30 * time.Hour)}, 4 * time.Hour, evenly(30*time.Hour, 4*time.Hour), false},
		{"in two bouts", made{happens: inTwoBouts}, 40 * time.Minute, 1.3, false},
		{"by night", made{happens: byNight}, 30 * time.Minute, 1, true},
		{"at work", made{happens: atWork}, 65*time.Minute + quarter/2, 1 / (1 - math.Exp(-0.5)), true}, // each two hours of work
	} {
		t.Run(test.what, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 7))
			m := hourly
			m.happens = test.of.happens
			began := time.Now()
			got := Advise(m.checks(t, r, 4000), Question{Late: test.late, Slot: quarter})
			took := time.Since(began)
			if got.None != "" || got.OutOfReach {
				t.Fatalf("%+v", got)
			}
			calls, late := m.play(t, r, *got.Curve, prescient.Distances{Least: quarter})
			t.Logf("%s: found %d of %d, regular %d of %d; now %.2f calls, %.0f m late; advised %.2f, %.0f; played %.3f, %.1f; best %.3f, %.0f; rhythm %v; guard %d; points %d; ages %v", took, got.Found, got.Checks, got.Regular, got.Learned,
				got.Now.Calls, got.Now.LateSeconds/60, got.Advised.Calls, got.Advised.LateSeconds/60, calls, late/60, test.best, test.late.Minutes(), len(got.Curve.Day) > 0, got.MaxChecks, len(got.Curve.Points), got.Ages)
			if calls > test.best*1.1 || late > test.late.Seconds()*1.1 || len(got.Curve.Day) > 0 != test.rhythm {
				t.Errorf("%.3f calls, %.1f m late, where %.3f would do in %s", calls, late/60, test.best, test.late)
			}
		})
	}
}
