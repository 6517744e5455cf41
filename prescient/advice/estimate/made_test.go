package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

const quarter = 15 * time.Minute

// made is a history whose truth is known: happens says when what a check waits for does.
type made struct {
	happens func(r *rand.Rand, inserted time.Time) time.Time
	// first is the distance to the first check, every that to the next; checks share cancels are reported by the app.
	first   func(r *rand.Rand) time.Duration
	every   time.Duration
	reports float64
	answers int // that are allowed
}

var began = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

func grid(t testing.TB) slots.Grid {
	g, err := slots.NewGrid(quarter)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// checks plays n of them, which are inserted within two weeks, until three weeks have gone.
func (m made) checks(t testing.TB, r *rand.Rand, n int) (all []Check) {
	g := grid(t)
	now := began.Add(21 * 24 * time.Hour)
	for range n {
		inserted := began.Add(time.Duration(r.Int64N(int64(14 * 24 * time.Hour))))
		happens := m.happens(r, inserted)
		reports := r.Float64() < m.reports
		c := Check{Inserted: inserted, FirstSlot: g.Ceil(inserted.Add(m.first(r)))}
		for c.Slot = c.FirstSlot; ; c.Slot = g.Ceil(c.Slot.Add(m.every)) {
			if reports && happens.Before(c.Slot) && happens.Before(now) {
				c.Outcome, c.Ended = prescient.Cancelled, happens
				break
			}
			if c.Slot.After(now) {
				break
			}
			started := c.Slot.Add(time.Duration(r.Int64N(int64(3 * time.Second))))
			if !happens.After(started) {
				c.Outcome, c.Started, c.Ended = prescient.Done, started, started
				break
			}
			if c.Answers == m.answers {
				c.Outcome, c.Started, c.Ended = prescient.MaxChecks, started, started
				break
			}
			c.Answers++
		}
		all = append(all, c)
	}
	return all
}

// play looks for what happens as a curve advises, in slots, and says what that comes to.
func (m made) play(t testing.TB, r *rand.Rand, c prescient.Curve, d prescient.Distances) (calls, late float64) {
	g := grid(t)
	const n = 1500
	found := 0.0
	for range n {
		inserted := began.Add(time.Duration(r.Int64N(int64(14 * 24 * time.Hour))))
		happens := m.happens(r, inserted)
		reports := r.Float64() < m.reports
		for at := g.Ceil(prescient.Advised(c, inserted, inserted, d)); ; at = g.Ceil(prescient.Advised(c, inserted, at, d)) {
			if reports && happens.Before(at) {
				break
			}
			if calls++; !happens.After(at) {
				late += at.Sub(happens).Seconds()
				found++
				break
			}
		}
	}
	return calls / n, late / found
}

func between(from, to time.Duration) func(*rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration { return from + time.Duration(r.Int64N(int64(to-from))) }
}

func exponentially(mean time.Duration) func(*rand.Rand, time.Time) time.Time {
	return func(r *rand.Rand, inserted time.Time) time.Time {
		return inserted.Add(time.Duration(r.ExpFloat64() * float64(mean)))
	}
}

func inTwoBouts(r *rand.Rand, inserted time.Time) time.Time {
	if r.Float64() < 0.7 {
		return inserted.Add(time.Hour + time.Duration(r.NormFloat64()*float64(5*time.Minute)))
	}
	return inserted.Add(24*time.Hour + time.Duration(r.NormFloat64()*float64(20*time.Minute)))
}

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
