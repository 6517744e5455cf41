package campaign

import (
	"context"
	"maps"
	"strings"
	"syscall"
	"time"

	"prescient/prescient/localserver"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/wire"
	text "prescient/sql"

	"prescient/scripts/chaos/stage"
)

// behaviours are the scenarios in which apps, job_execs and clocks behave badly, and the one with everything mixed.
func behaviours() []stage.Scenario {
	return []stage.Scenario{
		{Name: "late-commit", About: "inserts that commit up to 3 s later, after their slot was run", Load: stage.Load{Linger: 40},
			Rules: func(r *checker.Rules) { r.MaxLate = 10 * time.Second }},
		{Name: "open-transactions", About: "apps cancel, move, keep and replace what isn't there, in transactions of seconds", Faults: holdNothing,
			Rules: func(r *checker.Rules) { r.MaxLate = 10 * time.Second }},
		{Name: "long-transaction", About: "a transaction stays open from the beginning: purge is held back", Faults: holdPurgeBack},
		{Name: "bad-execs", About: "job_execs that panic, hang, are deaf to their context, call Goexit, answer years 0, 1 and 9999",
			Load:  stage.Load{Execs: map[string]int{"done": 20, "tx": 5, "panics": 4, "goexits": 4, "hangs": 2, "deaf": 2, "year0": 4, "year1": 4, "year9999": 4}, Rate: 40},
			Rules: func(r *checker.Rules) { r.MaxLate = 40 * time.Second }},
		{Name: "killers", About: "rows whose job_exec ends its worker every time: by exit, or out of memory",
			Load: stage.Load{Rate: 15, Execs: map[string]int{"done": 60, "again": 20, "exits": 2, "hungry": 1}}, Workers: stage.Workers{Env: []string{"CHAOS_MEMORY=3221225472"}},
			Rules: func(r *checker.Rules) { r.MaxLate = 90 * time.Second }},
		{Name: "time-zones", About: "the server's zone is set to -08:00 and +14:00 (+13:00 on MariaDB, which knows none beyond) in turn", Own: true, Faults: func(ctx context.Context, s *stage.Stage) {
			easternmost := "+14:00"
			if strings.HasPrefix(s.Engine.Name, string(localserver.MariaDB)) {
				easternmost = "+13:00"
			}
			toggle(ctx, s, "zone set", "SET GLOBAL time_zone = '"+easternmost+"'", "SET GLOBAL time_zone = '-08:00'")
			restore(s, "SET GLOBAL time_zone = 'SYSTEM'")
		}, Rules: func(r *checker.Rules) { r.MaxLate = 30 * time.Second }},
		{Name: "worker-clock", About: "the workers' clocks jump by hours, forth and back, and drift",
			Workers: stage.Workers{Clock: true, Env: []string{"CHAOS_CLOCK=7200,900"}},
			Faults: func(ctx context.Context, s *stage.Stage) {
				for stage.Pause(ctx, 1500*time.Millisecond) {
					s.Fault("clock jumped", "nobody", 0) // it explains nothing
				}
			}, Rules: func(r *checker.Rules) { r.MaxLate = 10 * time.Second }},
		{Name: "mixed", About: "workers are killed and frozen, connections cut, answers lost, statements refused, the network split",
			Workers: stage.Workers{Number: 4, Wire: func(place, _ int) []wire.Rule {
				return []wire.Rule{{Chance: 0.004, Do: wire.Drop, After: true}, {Chance: 0.004, Do: wire.Drop},
					{Chance: 0.004, Do: wire.Refuse, Code: 1213}, {Chance: 0.004, Do: wire.Refuse, Code: 1205},
					{Chance: 0.002, Do: wire.Split, Wait: 2500 * time.Millisecond}, {Chance: 0.01, Do: wire.Delay, Wait: 100 * time.Millisecond},
					{Match: "COMMIT", Chance: 0.02, Do: wire.Kill, After: place%2 == 0}}
			}},
			Load: stage.Load{Linger: 10, Execs: mixedExecs()}, Rules: func(r *checker.Rules) { r.MaxLate, r.Crashes = 60*time.Second, true }, Faults: mixed},
	}
}

func mixedExecs() map[string]int {
	all := maps.Clone(stage.Usual)
	all["panics"], all["goexits"], all["year9999"] = 2, 2, 2
	return all
}

func mixed(ctx context.Context, s *stage.Stage) {
	dice := s.Dice(1)
	for stage.Pause(ctx, time.Duration(500+dice.IntN(1500))*time.Millisecond) {
		p := s.Any(dice)
		switch dice.IntN(3) {
		case 0:
			p.Signal("SIGKILL", syscall.SIGKILL, 0)
		case 1:
			p.Signal("SIGTERM", syscall.SIGTERM, stage.StopGrace+time.Second)
		default:
			p.Freeze(ctx, stage.Lease+time.Second)
		}
	}
}

// restore sets the server back.
func restore(s *stage.Stage, statement string) {
	if _, err := s.App.Exec(statement); err != nil {
		s.Logf("%s: %v", statement, err)
	}
}

// holdPurgeBack keeps a snapshot open, and looks now and then how long the sweeper's look for overdue slots takes.
func holdPurgeBack(ctx context.Context, s *stage.Stage) {
	conn, done, err := s.Admin(context.WithoutCancel(ctx))
	if err != nil {
		s.Logf("a long transaction: %v", err)
		return
	}
	defer done()
	statements, err := text.Load(stage.Prefix)
	if err != nil {
		s.Logf("a long transaction: %v", err)
		return
	}
	measure := func(name string) {
		began := time.Now()
		rows, err := s.App.Query(statements.Get("sweep/overdue"), "1000-01-01", s.Now(), 100)
		if err == nil {
			for rows.Next() {
			}
			err = rows.Close()
		}
		if err != nil {
			s.Logf("%s: %v", name, err)
			return
		}
		s.Timings[name] = time.Since(began)
	}
	s.Timings = make(map[string]time.Duration)
	measure("the sweeper's look, nothing held back")
	var n int
	_, err = conn.ExecContext(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
	if err == nil {
		err = conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+stage.Prefix+"future_job").Scan(&n)
	}
	if err != nil {
		s.Logf("a long transaction: %v", err)
		return
	}
	s.Fault("transaction held open", "nobody", 0)
	<-ctx.Done()
	measure("the sweeper's look, everything held back")
	_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
}
