package campaign

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/wire"

	"prescient/scripts/chaos/stage"
)

// servers are the scenarios in which the server dies, refuses, or is out of reach.
func servers() []stage.Scenario {
	slow := func(r *checker.Rules) { r.MaxLate = 40 * time.Second; r.Crashes = true }
	return []stage.Scenario{
		{Name: "server-kill", About: "SIGKILL of the server in mid-slot, and a restart", Own: true, Rules: slow, Faults: killServer},
		{Name: "cut", About: "all connections are killed by the server, again and again", Rules: slow, Faults: cutConnections},
		{Name: "latency", About: "one statement in ten takes up to half a second", Workers: stage.Workers{Wire: func(int, int) (rules []wire.Rule) {
			for _, wait := range []time.Duration{50, 150, 500} {
				rules = append(rules, wire.Rule{Chance: 0.033, Do: wire.Delay, Wait: wait * time.Millisecond})
			}
			return rules
		}}},
		{Name: "split", About: "the network between two of three workers and the server swallows everything for 3 s, then delivers it", Rules: slow,
			Workers: stage.Workers{Wire: func(place, life int) []wire.Rule {
				if place == 1 { // it serves the pool: who is split in every second, to the end of the drain, cannot do its runs alone
					return nil
				}
				return []wire.Rule{{Chance: 0.01, Do: wire.Split, Wait: 3 * time.Second},
					{Chance: 0.005, Do: wire.Split, Wait: 3 * time.Second, After: true}}
			}}},
		{Name: "refused", About: "statements are answered with 1205, 1213, 1290, 1047, 1040, 1053, 1317",
			Workers: stage.Workers{Wire: func(int, int) (rules []wire.Rule) {
				for _, code := range []uint16{1205, 1213, 1290, 1047, 1040, 1053, 1317} {
					rules = append(rules, wire.Rule{Chance: 0.012, Do: wire.Refuse, Code: code})
				}
				return rules
			}}},
		{Name: "contention", About: "other transactions hold due rows for up to 3 s, in any order: real 1205 and 1213", Rules: slow, Faults: contend},
		{Name: "lapse", About: "the server's clock jumps past every lease, while their holders go on", Rules: slow, Faults: lapseLeases},
		{Name: "read-only", About: "the server is read-only for a second, again and again", Own: true, Rules: slow,
			Faults: func(ctx context.Context, s *stage.Stage) {
				toggle(ctx, s, "read-only", "SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0")
			}},
		{Name: "connections", About: "the server takes no more connections for a second, again and again", Own: true, Rules: slow,
			Faults: func(ctx context.Context, s *stage.Stage) {
				toggle(ctx, s, "too many connections", "SET GLOBAL max_connections = 10", "SET GLOBAL max_connections = 300")
			}},
	}
}

func killServer(ctx context.Context, s *stage.Stage) {
	dice := s.Dice(1)
	for stage.Pause(ctx, 2*time.Second) && s.IntoSlot(ctx, time.Duration(dice.IntN(150))*time.Millisecond) {
		s.During("SIGKILL of the server", "", 2*stage.Lease, func() {
			s.Engine.Server.Kill()
			// Also after the time of faults: the server has to come back.
			if err := s.Engine.Server.Restart(context.WithoutCancel(ctx)); err != nil {
				s.Logf("the server does not come back: %v", err)
			}
		})
	}
}

func cutConnections(ctx context.Context, s *stage.Stage) {
	dice := s.Dice(1)
	conn, done, err := s.Admin(ctx)
	if err != nil {
		s.Logf("cutting connections: %v", err)
		return
	}
	defer done()
	for stage.Pause(ctx, time.Duration(50+dice.IntN(500))*time.Millisecond) {
		s.During("connections killed", "", stage.Lease, func() { killConnections(ctx, s, conn) })
	}
}

// killConnections ends all connections to the stage's database but this one.
func killConnections(ctx context.Context, s *stage.Stage, conn *sql.Conn) {
	rows, err := conn.QueryContext(ctx, "SELECT id FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID()", s.Database)
	if err != nil {
		return // the time of faults is over
	}
	var ids []int64
	for rows.Next() {
		var id int64
		if rows.Scan(&id) == nil {
			ids = append(ids, id)
		}
	}
	_ = rows.Close()
	for _, id := range ids {
		_, _ = conn.ExecContext(ctx, fmt.Sprintf("KILL %d", id)) // it may have ended by itself
	}
}

// contend holds due rows in transactions of its own.
func contend(ctx context.Context, s *stage.Stage) {
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			dice := s.Dice(uint64(10 + i))
			for stage.Pause(ctx, time.Duration(dice.IntN(200))*time.Millisecond) {
				hold(ctx, s, dice)
			}
		})
	}
	all.Wait()
}

// hold locks some rows that are about to be due, one after the other, and changes nothing.
func hold(ctx context.Context, s *stage.Stage, dice *rand.Rand) {
	tx, err := s.App.BeginTx(ctx, nil)
	if err != nil {
		return
	}
	defer func() { _ = tx.Rollback() }()
	rows, err := tx.QueryContext(ctx, "SELECT next_check_at, HEX(job_key) FROM "+stage.Prefix+"future_job WHERE next_check_at < UTC_TIMESTAMP() + INTERVAL 1 SECOND LIMIT 40")
	if err != nil {
		return
	}
	var slots, keys []string
	for rows.Next() {
		var slot, key string
		if rows.Scan(&slot, &key) == nil {
			slots, keys = append(slots, slot), append(keys, key)
		}
	}
	_ = rows.Close()
	if len(keys) == 0 {
		return
	}
	what := "rows held"
	s.During(what, "", stage.Lease, func() {
		for range 3 {
			at := dice.IntN(len(keys))
			if _, err := tx.ExecContext(ctx, "SELECT 1 FROM "+stage.Prefix+"future_job WHERE next_check_at = ? AND job_key = UNHEX(?) FOR UPDATE", slots[at], keys[at]); err != nil {
				return // a deadlock, and this was its victim
			}
			stage.Pause(ctx, time.Duration(dice.IntN(300))*time.Millisecond)
		}
		if dice.IntN(4) == 0 {
			stage.Pause(ctx, 3*time.Second)
		}
	})
}

// toggle sets the server one way for a second, and back, until ctx ends. Connections are killed at each change, so that
// it is felt at once.
func toggle(ctx context.Context, s *stage.Stage, what, on, off string) {
	conn, done, err := s.Admin(ctx)
	if err != nil {
		s.Logf("%s: %v", what, err)
		return
	}
	defer done()
	set := func(statement string) {
		if _, err := conn.ExecContext(context.WithoutCancel(ctx), statement); err != nil {
			s.Logf("%s: %v", what, err)
		}
	}
	for stage.Pause(ctx, 1500*time.Millisecond) {
		s.During(what, "", stage.Lease, func() {
			set(on)
			killConnections(context.WithoutCancel(ctx), s, conn) // a query that is broken off takes the connection with it, and the server stays so
			stage.Pause(ctx, time.Second)
			set(off)
		})
	}
}

// lapseLeases ends every lease as if the server's clock had been set forward, while whoever has it goes on.
func lapseLeases(ctx context.Context, s *stage.Stage) {
	for s.IntoSlot(ctx, 100*time.Millisecond) {
		s.During("leases lapse", "", stage.Lease, func() {
			for _, table := range []string{"slot_run", "long_run"} {
				_, err := s.App.ExecContext(ctx, "UPDATE "+stage.Prefix+table+" SET allocated_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE allocated_until IS NOT NULL")
				if err != nil && ctx.Err() == nil {
					s.Logf("leases lapse: %v", err)
				}
			}
		})
	}
}
