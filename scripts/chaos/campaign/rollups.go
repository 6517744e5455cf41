package campaign

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/checker/evidence"
	"prescient/scripts/chaos/stage"
	"prescient/scripts/chaos/wire"
	"prescient/scripts/chaos/worker"
)

// rollups are the scenarios in which what sums up history is broken, while ends of the hours that it sums up are committed yet: by workers that
// stay up, timers and a prune, one of which at a time has the duty. Checks that failed are requeued meanwhile, and end again.
func rollups() []stage.Scenario {
	scenario := func(name, about string, broken func(place, life int) []wire.Rule, faults func(ctx context.Context, s *stage.Stage)) stage.Scenario {
		return stage.Scenario{Name: name, About: about, Own: true, Hours: true, Load: stage.Load{Rate: 60, Schedules: -1, Linger: 10, Execs: shortExecs},
			Workers: stage.Workers{Number: 5, Command: rollupCommand, Wire: func(place, life int) []wire.Rule {
				if place == 0 {
					return stage.HourRules()
				}
				return stage.HourRules(broken(place-1, life)...)
			}},
			Rules: func(r *checker.Rules) { r.Crashes, r.MaxLate = true, 40*time.Second },
			Faults: func(ctx context.Context, s *stage.Stage) {
				requeued := make(chan struct{})
				go func() {
					defer close(requeued)
					requeue(ctx, s)
				}()
				faults(ctx, s)
				<-requeued
			}}
	}
	return []stage.Scenario{
		scenario("rollup-kill", "SIGKILL before and after each statement of a rollup, one after the other, and of workers at random", eachOfRollup(wire.Kill, 1), killSome),
		scenario("rollup-freeze", "SIGSTOP before and after each statement of a rollup, past the lease of its duty", eachOfRollup(wire.Freeze, rollupStatements), wait),
		scenario("rollup-lost", "statements of a rollup are done, COMMITs too, but the client sees a broken connection; others are refused", lostInRollup, wait),
		scenario("rollup-lapse", "the lease of the duty lapses all the time, while its holder goes on", func(int, int) []wire.Rule { return nil }, lapseDuty),
	}
}

// shortExecs are of checks that end soon, in different ways.
var shortExecs = map[string]int{"done": 30, "again": 10, "tx": 10, "txbatch": 10, "flaky": 10, "slow": 10, "forever": 5, "failing": 10, "past": 5}

// rollupCommand: two stay up, two are timers, and one prunes what is so old that there is none, which sums up all the same.
func rollupCommand(place int) []string {
	switch place {
	case 0, 1:
		return []string{"work"}
	case 4:
		return []string{"prune", "--keep", "4000d", "--trust-clock"}
	}
	return []string{"sweep"}
}

const (
	rollupFence = "SELECT token FROM " + stage.Prefix + "duty WHERE name = 'rollup'" // the first statement of each of its transactions
	inRollup    = "a rollup"
	// rollupStatements are those of a transaction, and the reads before the next.
	rollupStatements = 16
)

// eachOfRollup breaks each process at the n-th statement from the first transaction of its rollup on, at some first one at the earliest: before it
// is sent, or after its answer came. The processes share one count. One that is frozen keeps others from the duty, so it is to write an hour before.
func eachOfRollup(do wire.Action, first int) func(place, life int) []wire.Rule {
	return func(place, life int) []wire.Rule {
		n := life + 9*place
		return []wire.Rule{{Do: do, In: inRollup, Since: rollupFence, Nth: first + n/2%rollupStatements, After: n%2 == 1}}
	}
}

// lostInRollup strikes at statements from the first transaction of a rollup on.
func lostInRollup(place, _ int) (rules []wire.Rule) {
	for n := range 12 {
		nth := 1 + n*9 + 3*place
		rules = append(rules, wire.Rule{Do: wire.Drop, After: true, In: inRollup, Since: rollupFence, Nth: nth},
			wire.Rule{Do: wire.Refuse, Code: []uint16{1213, 1205, 1290}[n%3], In: inRollup, Since: rollupFence, Nth: nth + 4})
	}
	for _, of := range []string{"stats", "duty"} {
		rules = append(rules, wire.Rule{Match: stage.Prefix + of, Do: wire.Drop, After: true, In: inRollup, Chance: 0.04})
	}
	return append(rules, wire.Rule{Match: "COMMIT", Since: rollupFence, Do: wire.Drop, After: true, In: inRollup, Chance: 0.1})
}

func killSome(ctx context.Context, s *stage.Stage) {
	dice := s.Dice(1)
	for stage.Pause(ctx, time.Duration(500+dice.IntN(1500))*time.Millisecond) {
		s.Any(dice).Signal("SIGKILL", syscall.SIGKILL, 0)
	}
}

func wait(ctx context.Context, _ *stage.Stage) { <-ctx.Done() }

// lapseDuty ends the lease of whoever sums up.
func lapseDuty(ctx context.Context, s *stage.Stage) {
	for stage.Pause(ctx, 30*time.Millisecond) {
		done, err := s.App.ExecContext(ctx, "UPDATE "+stage.Prefix+"duty SET allocated_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE name = 'rollup' AND allocated_until > UTC_TIMESTAMP(6)")
		if err != nil {
			if ctx.Err() == nil {
				s.Logf("the lease of the duty lapses: %v", err)
			}
			continue
		}
		if n, err := done.RowsAffected(); err == nil && n > 0 {
			s.Fault("lease of the duty lapsed", "nobody", 0) // it explains nothing
		}
	}
}

// requeue has checks fail, and requeues them, again and again.
func requeue(ctx context.Context, s *stage.Stage) {
	db, err := connect.Open(s.DSN(), 0)
	if err != nil {
		s.Logf("requeueing: %v", err)
		return
	}
	defer db.Close()
	dice := s.Dice(2)
	asked, requeued := 0, 0
	for stage.Pause(ctx, time.Duration(100+dice.IntN(200))*time.Millisecond) {
		key := fmt.Sprint(asked)
		_, err := db.ExecContext(ctx, "INSERT INTO "+stage.Prefix+"future_job (entity_name, entity_key, job_exec, due_at) VALUES (?, ?, ?, UTC_TIMESTAMP(6))", evidence.OutsiderPrefix, key, worker.Refused)
		if asked++; err == nil {
			var did client.Requeued
			did, err = s.Client.Requeue(ctx, db, client.RequeueOptions{Limit: 1 + dice.IntN(4),
				Filter: client.ListFilter{JobExec: worker.Refused, Outcome: prescient.Failed, From: s.Now().AddDate(0, 0, -60)}})
			requeued += did.Requeued
		}
		if err != nil && ctx.Err() == nil {
			s.Logf("requeueing: %v", err)
		}
	}
	s.Remark("%d checks that failed were requeued %d times", asked, requeued)
}
