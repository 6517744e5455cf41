package campaign

import (
	"context"
	"syscall"
	"time"

	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/wire"

	"prescient/scripts/chaos/stage"
)

// deaths are the scenarios in which workers die, freeze or are stopped.
func deaths() []stage.Scenario {
	crashes := func(r *checker.Rules) { r.Crashes, r.MaxLate = true, 30*time.Second }
	return []stage.Scenario{
		{Name: "calm", About: "nothing is broken: nothing is called twice"},
		{Name: "kill", About: "SIGKILL of workers at random moments", Rules: crashes, Faults: func(ctx context.Context, s *stage.Stage) {
			dice := s.Dice(1)
			for stage.Pause(ctx, time.Duration(200+dice.IntN(900))*time.Millisecond) {
				s.Any(dice).Signal("SIGKILL", syscall.SIGKILL, 0)
			}
		}},
		{Name: "kill-slot", About: "SIGKILL of a worker some milliseconds into each slot", Rules: crashes, Faults: func(ctx context.Context, s *stage.Stage) {
			dice := s.Dice(1)
			for s.IntoSlot(ctx, time.Duration(dice.IntN(150))*time.Millisecond) {
				s.Any(dice).Signal("SIGKILL in the slot", syscall.SIGKILL, 0)
			}
		}},
		{Name: "kill-statement", About: "SIGKILL before and after each statement of a slot run, one after the other",
			Workers: stage.Workers{Number: 5, Wire: eachStatement(wire.Rule{Do: wire.Kill})}, Rules: crashes},
		{Name: "freeze", About: "SIGSTOP past the lease, SIGCONT", Rules: func(r *checker.Rules) { r.MaxLate = 30 * time.Second; r.Crashes = true },
			Faults: func(ctx context.Context, s *stage.Stage) {
				dice := s.Dice(1)
				for s.IntoSlot(ctx, time.Duration(dice.IntN(150))*time.Millisecond) {
					s.Any(dice).Freeze(ctx, stage.Lease+time.Duration(500+dice.IntN(1500))*time.Millisecond)
				}
			}},
		{Name: "outage", About: "SIGSTOP of all workers at the same time for 4 to 7 s, SIGCONT: schedules miss several occurrences",
			Rules: func(r *checker.Rules) { r.Crashes, r.MaxLate = true, 60*time.Second },
			Faults: func(ctx context.Context, s *stage.Stage) {
				dice := s.Dice(1)
				for s.IntoSlot(ctx, time.Duration(dice.IntN(1500))*time.Millisecond) {
					s.FreezeAll(ctx, time.Duration(4000+dice.IntN(3000))*time.Millisecond)
					stage.Pause(ctx, 6*time.Second) // what is overdue is caught up
				}
			}},
		{Name: "freeze-statement", About: "SIGSTOP before and after each statement of a slot run, past the lease",
			Workers: stage.Workers{Number: 5, Wire: eachStatement(wire.Rule{Do: wire.Freeze})}, Rules: crashes},
		{Name: "term", About: "SIGTERM in mid-slot", Faults: func(ctx context.Context, s *stage.Stage) {
			dice := s.Dice(1)
			for s.IntoSlot(ctx, time.Duration(dice.IntN(150))*time.Millisecond) {
				s.Any(dice).Signal("SIGTERM", syscall.SIGTERM, stage.StopGrace+time.Second)
			}
		}},
		{Name: "lost-answer", About: "each statement of a slot run is done, but the client sees a broken connection",
			Workers: stage.Workers{Number: 4, Wire: each(wire.Rule{Do: wire.Drop, After: true})},
			Rules:   func(r *checker.Rules) { r.MaxLate = 40 * time.Second }}, // one check may lose several answers, each of which costs a lease
		{Name: "lost-commit", About: "one COMMIT in four is done, but the client sees a broken connection",
			Workers: stage.Workers{Wire: func(int, int) []wire.Rule {
				return []wire.Rule{{Match: "COMMIT", Chance: 0.25, Do: wire.Drop, After: true}}
			}}},
	}
}

// statements is how many statements of a slot run are gone through one after the other.
const statements = 30

// eachStatement makes all workers but the first die of a rule at the n-th statement from a claim on: before it is sent,
// or after its answer came. The workers in all places share one count, so that it goes through all statements.
func eachStatement(rule wire.Rule) func(place, life int) []wire.Rule {
	return func(place, life int) []wire.Rule {
		if place == 0 {
			return nil
		}
		one := rule
		n := life*4 + place - 1
		one.Since, one.Nth, one.After = claim, 1+n/2%statements, n%2 == 1
		return []wire.Rule{one}
	}
}

// each makes a rule strike at each statement of a slot run, in each worker.
func each(rule wire.Rule) func(place, life int) []wire.Rule {
	return func(place, _ int) (rules []wire.Rule) {
		for n := range 40 {
			one := rule
			one.Since, one.Nth = claim, 1+n*11+3*place
			rules = append(rules, one)
		}
		return rules
	}
}

// claim is text of the statement that takes a lease.
const claim = "SET takeovers"
