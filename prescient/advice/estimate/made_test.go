package estimate

import (
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
