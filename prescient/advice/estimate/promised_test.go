//go:build !race

package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"prescient/prescient"
)

// played is a history as apps have it: all first checks come after the same delay. Checks go on as next says, in slots, of workers that may be away.
type played struct {
	happens func(r *rand.Rand, inserted time.Time) time.Time
	first   time.Duration
	next    func(r *rand.Rand, inserted, now time.Time) time.Time
	answers int
	away    [2]time.Time
	days    int // they are inserted in 14, and looked at after so many
}

// came is what became of them: how many calls a check had, and how late what was found was found.
type came struct{ calls, late float64 }

func (p played) run(t testing.TB, r *rand.Rand, n int) (all []Check, what came) {
	g := grid(t)
	end, found := began.AddDate(0, 0, p.days), 0.0
	for range n {
		inserted := began.Add(time.Duration(r.Int64N(int64(14 * 24 * time.Hour))))
		happens := p.happens(r, inserted)
		c := Check{Inserted: inserted, FirstSlot: g.Ceil(inserted.Add(p.first))}
		if p.first == 0 {
			c.FirstSlot = g.Ceil(p.next(r, inserted, inserted))
		}
		for c.Slot = c.FirstSlot; !c.Slot.After(end); c.Slot = g.Ceil(p.next(r, inserted, c.Started)) {
			if c.Started = c.Slot.Add(time.Second); c.Started.After(p.away[0]) && c.Started.Before(p.away[1]) {
				c.Started = p.away[1]
			}
			if what.calls++; !happens.After(c.Started) {
				c.Outcome, c.Ended = prescient.Done, c.Started
				what.late, found = what.late+c.Started.Sub(happens).Seconds(), found+1
				break
			}
			if c.Answers == p.answers {
				c.Outcome, c.Ended = prescient.MaxChecks, c.Started
				break
			}
			c.Answers++
		}
		if c.Outcome == "" {
			c.Started = time.Time{}
		}
		all = append(all, c)
	}
	return all, came{what.calls / float64(n), what.late / max(found, 1)}
}

// by are the same checks, where they are made as advised, by workers that are never away.
func (p played) by(a Advice) played {
	at := func(_ *rand.Rand, inserted, now time.Time) time.Time {
		return prescient.Advised(*a.Curve, inserted, now, prescient.Distances{Least: quarter})
	}
	return played{happens: p.happens, next: at, answers: a.MaxChecks, days: 40}
}

func hourly(_ *rand.Rand, _, now time.Time) time.Time { return now.Add(time.Hour) }

func doubling(_ *rand.Rand, inserted, now time.Time) time.Time { return now.Add(now.Sub(inserted)) }

func mostly(share float64, usual, otherwise func(*rand.Rand, time.Time) time.Time) func(*rand.Rand, time.Time) time.Time {
	return func(r *rand.Rand, inserted time.Time) time.Time {
		if r.Float64() < share {
			return usual(r, inserted)
		}
		return otherwise(r, inserted)
	}
}

func never(_ *rand.Rand, inserted time.Time) time.Time { return inserted.AddDate(5, 0, 0) }

// onWeekdays is at 09:00 of the next day of work.
func onWeekdays(r *rand.Rand, inserted time.Time) time.Time {
	at := inserted.Truncate(24 * time.Hour).Add(9 * time.Hour)
	for !at.After(inserted) || at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
		at = at.Add(24 * time.Hour)
	}
	return at.Add(time.Duration(r.Int64N(int64(10 * time.Minute))))
}

func slowly(r *rand.Rand, inserted time.Time) time.Time {
	return exponentially(12*time.Hour)(r, inserted)
}

func quickly(r *rand.Rand, inserted time.Time) time.Time {
	return exponentially(time.Hour)(r, inserted)
}

// What is promised of the checks now, and of those that are advised, is what comes of them.
func TestAdviceKeepsWhatItPromises(t *testing.T) {
	usual := exponentially(6 * time.Hour)
	aDayAway := [2]time.Time{began.AddDate(0, 0, 5), began.AddDate(0, 0, 6)}
	for _, test := range []struct {
		what string
		of   played
		late time.Duration
	}{
		{"all at the same ages", played{happens: usual, next: hourly, answers: 60, days: 28}, 0},
		{"at doubling distances, as late as is asked", played{happens: usual, next: doubling, answers: 60, days: 28}, time.Hour},
		{"three of ten never", played{happens: mostly(0.7, usual, never), next: hourly, answers: 40, days: 28}, time.Hour},
		{"at nine on weekdays", played{happens: onWeekdays, next: hourly, answers: 200, days: 28}, 40 * time.Minute},
		{"half of them quickly", played{happens: mostly(0.5, slowly, quickly), next: hourly, answers: 200, days: 28}, time.Hour},
		{"workers were away for a day", played{happens: usual, next: hourly, answers: 60, days: 28, away: aDayAway}, 0},
	} {
		t.Run(test.what, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 7))
			test.of.first = time.Hour
			checks, was := test.of.run(t, r, 2500)
			got := Advise(checks, Question{Late: test.late, Slot: quarter})
			if got.None != "" || got.OutOfReach {
				t.Fatalf("%+v", got)
			}
			test.of.away = [2]time.Time{} // late is what punctual workers would be
			_, was = test.of.run(t, r, 2500)
			_, is := test.of.by(got).run(t, r, 1200)
			t.Logf("now %.2f calls, %.0f m late; said %.2f, %.0f; advised %.2f, %.0f; said %.2f, %.0f", was.calls, was.late/60, got.Now.Calls, got.Now.LateSeconds/60, is.calls, is.late/60, got.Advised.Calls, got.Advised.LateSeconds/60)
			near := func(what string, said, is, least float64) {
				if is > said*1.13 || is < said*least {
					t.Errorf("%s: %.2f was said, and it is %.2f", what, said, is)
				}
			}
			near("calls", got.Advised.Calls, is.calls, 0.87)
			near("late", got.Advised.LateSeconds, is.late, 0.5) // what comes on time at its slot is sooner
			near("calls now", got.Now.Calls, was.calls, 0.87)
			near("late now", got.Now.LateSeconds, was.late, 0.87)
			if got.Differ != nil {
				t.Errorf("they are said to differ from %s on", got.Differ)
			}
		})
	}
}

func TestAdviceSaysWhatItDoesNotKnow(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	advise := func(p played, late time.Duration) Advice {
		t.Helper()
		p.first, p.answers = time.Hour, 2000
		checks, _ := p.run(t, r, 2500)
		return Advise(checks, Question{Late: late, Slot: quarter})
	}

	// What is awaited comes sooner from a deploy on.
	deployed := func(r *rand.Rand, inserted time.Time) time.Time {
		if inserted.Before(began.AddDate(0, 0, 7)) {
			return slowly(r, inserted)
		}
		return quickly(r, inserted)
	}
	if got := advise(played{happens: deployed, next: hourly, days: 28}, time.Hour); got.Differ == nil || got.Differ.Sub(began.AddDate(0, 0, 7)).Abs() > 12*time.Hour {
		t.Errorf("%+v", got)
	}

	// It looks by advice already, after an hour and after a day: when in between something happened is a guess.
	sparsely := func(_ *rand.Rand, inserted, now time.Time) time.Time {
		if now.Sub(inserted) < 20*time.Hour {
			return inserted.Add(25 * time.Hour)
		}
		return now.Add(12 * time.Hour)
	}
	if got := advise(played{happens: inTwoBouts, next: sparsely, days: 28}, 30*time.Minute); got.Guessed < 0.2 || got.Apart < 6*3600 {
		t.Errorf("%.2f guessed; apart %v; %+v", got.Guessed, got.Apart, got.Advised)
	}
	if got := advise(played{happens: inTwoBouts, next: hourly, days: 28}, 40*time.Minute); got.Guessed > 0.1 || got.Apart > 2*3600 {
		t.Errorf("%.2f guessed; apart %v; %+v", got.Guessed, got.Apart, got.Advised)
	}

	// Distances are random: when the check before the last one was cannot be learned.
	random := func(r *rand.Rand, _, now time.Time) time.Time {
		return now.Add(time.Duration(r.Int64N(int64(6 * time.Hour))))
	}
	if got := advise(played{happens: exponentially(6 * time.Hour), next: random, days: 28}, time.Hour); got.None == "" || got.Curve != nil {
		t.Errorf("%+v", got)
	}
}

// Two fifths are pending, each after a few of its calls: those that ended had fewer than all will have had.
func TestCallsAreThoseOfWhatIsPendingToo(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	of := played{happens: exponentially(6 * 24 * time.Hour), first: time.Hour, next: func(_ *rand.Rand, _, now time.Time) time.Time { return now.Add(6 * time.Hour) }, answers: 2000, days: 14}
	young, _ := of.run(t, r, 2000)
	of.days = 100
	_, want := of.run(t, r, 2000)
	if got := usualCalls(young); got < want.calls*0.8 || got > want.calls {
		t.Errorf("%.2f; in the end %.2f", got, want.calls)
	}
	if got := usualCalls([]Check{row(prescient.Done, 3, 4, 4, 4, 1), row(prescient.Cancelled, 3, 3, 0, 1, 0), row(prescient.MaxChecks, 3, 6, 6, 6, 2)}); math.Abs(got-5./3) > 1e-9 {
		t.Errorf("of ended ones %v", got)
	}
}
