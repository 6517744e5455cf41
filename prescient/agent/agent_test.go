package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is an installation whose agents use the accounts of workers.
type testRig struct{ *app.Rig }

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, &testRig{app.New(t, d, 15*time.Minute)}) })
}

// eachFlavour is eachServer for what is neither plans nor locks.
func eachFlavour(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) { test(t, &testRig{app.New(t, d, 15*time.Minute)}) })
}

// options are those of an agent of the rig.
func (r *testRig) options(name string) Options {
	return Options{Prefix: "p_", Dialect: r.Setting, Name: name, Version: "v1", Concurrency: 32}
}

func (r *testRig) agent(o Options) *Agent {
	r.T.Helper()
	a, err := New(r.T.Context(), r.As("worker", time.Time{}), o)
	r.Must(err)
	return a
}

// list is what an operator sees.
func (r *testRig) list() []Known {
	r.T.Helper()
	all, err := List(r.T.Context(), r.As("operator", time.Time{}), "p_", r.Setting)
	r.Must(err)
	return all
}

// becomes waits until the list is as it should be.
func (r *testRig) becomes(what string, is func(all []Known) bool) []Known {
	r.T.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		all := r.list()
		if is(all) {
			return all
		}
		if time.Now().After(until) {
			r.T.Fatalf("want %s; there is %+v", what, all)
		}
	}
}

func TestAnAgentIsListedWhileItRunsAndNotAfterItEnded(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		o := r.options("a")
		o.Pools, o.LongRuns = map[string]int{"heavy": 4, "eu": 2}, func() int { return 3 }
		a := r.agent(o)
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { a.Run(ctx) })
		got := r.becomes("one that lives", func(all []Known) bool { return len(all) == 1 && all[0].State == Live })[0]
		if got.Name != "a" || got.Host == "" || got.PID == 0 || got.Version != "v1" || got.Assignment != "every slot" || got.Concurrency != 32 || got.LongRuns != 3 ||
			len(got.Pools) != 2 || got.Pools["heavy"] != 4 || got.Pools["eu"] != 2 || got.MemoryBytes == 0 || got.Busy != 0 || got.Silent > DeadAfter || got.StartedAt.IsZero() {
			t.Errorf("%+v", got)
		}
		if got.Ahead.Abs() > 30*time.Second { // of this machine and its own server
			t.Errorf("its clock is ahead by %s", got.Ahead)
		}
		a.Stopping()
		a.Stopping()
		r.becomes("one that stops", func(all []Known) bool { return len(all) == 1 && all[0].State == Stopping })
		end()
		running.Wait()
		if all := r.list(); len(all) != 0 {
			t.Errorf("%+v is left", all)
		}
	})
}

func TestTwoProcessesOfOneNameShowAsTwo(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		one, two := r.agent(r.options("a")), r.agent(r.options("a"))
		r.beats(one, false)
		r.beats(two, false)
		r.beats(one, true)
		all := r.list()
		if len(all) != 2 || all[0].Instance == all[1].Instance {
			t.Fatalf("%+v", all)
		}
		one.leave(false)
		if all = r.list(); len(all) != 1 || all[0].Instance != two.instance || all[0].State != Live {
			t.Errorf("%+v", all)
		}
	})
}

func TestOneThatWasNotHeardOfForTwoHeartbeatsIsDeadAndForgottenAfterADay(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		a := r.agent(r.options("a"))
		state := func(silent time.Duration) State {
			t.Helper()
			r.beats(a, false)
			r.Exec("UPDATE p_agent SET seen_at = seen_at - INTERVAL ? SECOND", int(silent.Seconds()))
			return r.list()[0].State
		}
		if s := state(30 * time.Second); s != Live {
			t.Errorf("after one heartbeat that is missing: %s", s)
		}
		if s := state(61 * time.Second); s != Dead {
			t.Errorf("after two: %s", s)
		}
		started := r.list()[0].StartedAt
		r.beats(a, false)
		if back := r.list()[0]; back.State != Live || !back.StartedAt.Equal(started) {
			t.Errorf("one that is back: %+v", back)
		}
		state(23 * time.Hour)
		other := r.agent(r.options("b"))
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { other.Run(ctx) })
		r.becomes("both", func(all []Known) bool { return len(all) == 2 })
		end()
		running.Wait()
		state(25 * time.Hour)
		ctx, end = context.WithCancel(t.Context())
		other = r.agent(r.options("b"))
		running.Go(func() { other.Run(ctx) })
		r.becomes("the one that lives", func(all []Known) bool { return len(all) == 1 && all[0].Name == "b" })
		end()
		running.Wait()
	})
}

func TestRunsThatWaitAreCountedByPool(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		o := r.options("a")
		o.Pools = map[string]int{"heavy": 4}
		r.beats(r.agent(o), false)
		o.Name, o.Pools = "b", map[string]int{"heavy": 2, "idle": 1}
		r.beats(r.agent(o), false)
		o.Name = "dead"
		r.beats(r.agent(o), false)
		r.Exec("UPDATE p_agent SET seen_at = seen_at - INTERVAL 61 SECOND WHERE name = 'dead'")
		for i, run := range []struct{ pool, agent, until, ended string }{
			{"heavy", "a", "UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE", "NULL"},
			{"heavy", "a", "UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE", "NULL"},  // lapsed
			{"heavy", "", "UTC_TIMESTAMP(6) - INTERVAL 10 MINUTE", "NULL"},  // offered
			{"heavy", "", "UTC_TIMESTAMP(6) + INTERVAL 10 SECOND", "NULL"},  // put off
			{"heavy", "", "NULL", "NULL"},                                   // queued
			{"heavy", "b", "NULL", "UTC_TIMESTAMP(6)"},                      // ended
			{"nobodys", "", "UTC_TIMESTAMP(6) - INTERVAL 2 MINUTE", "NULL"}, // whose pool nobody serves
			{"", "b", "UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE", "NULL"},
		} {
			r.Exec(fmt.Sprintf(`INSERT INTO p_long_run (job_key, pool, agent, token, allocated_until, slot, due_at, inserted_at, check_count, ended_at)
				VALUES (REPEAT('%c', 16), '%s', '%s', 1, %s, UTC_TIMESTAMP(), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 0, %s)`, 'a'+i, run.pool, run.agent, run.until, run.ended))
		}
		pools, err := Pools(t.Context(), r.As("operator", time.Time{}), "p_", r.Setting)
		r.Must(err)
		for i := range pools {
			pools[i].Oldest = pools[i].Oldest.Truncate(time.Minute)
		}
		want := []Pool{{Name: "", Running: 1}, {Name: "heavy", Agents: 2, Places: 6, Running: 1, Waiting: 3, Oldest: 10 * time.Minute},
			{Name: "idle", Agents: 1, Places: 1}, {Name: "nobodys", Waiting: 1, Oldest: 2 * time.Minute}}
		if !slices.Equal(pools, want) {
			t.Errorf("%+v\nwant %+v", pools, want)
		}
	})
}

func TestOptionsOfAnAgentAreChecked(t *testing.T) {
	for want, o := range map[string]Options{
		"needs a name":               {},
		"name of an agent":           {Name: strings.Repeat("n", 65)},
		"version of an agent":        {Name: "a", Version: strings.Repeat("v", 65)},
		`pool "a b"`:                 {Name: "a", Pools: map[string]int{"a b": 1}},
		"capacity 0 of the pool eu":  {Name: "a", Pools: map[string]int{"eu": 0}},
		"concurrency -1 of an agent": {Name: "a", Concurrency: -1},
	} {
		if _, err := New(t.Context(), nil, o); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func TestNoStatementOfAgentsScansATable(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		var rows []string
		for i := range 6000 {
			rows = append(rows, fmt.Sprintf("('n%d', %d, 'h', 1, 'v', 'every slot', '{}', 1, 0, 0, 0, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", i%40, i))
		}
		r.Exec("INSERT INTO p_agent (name, instance, host, pid, version, assignment, pools, concurrency, busy, long_runs, memory_bytes, clock_ms, started_at, seen_at) VALUES " +
			strings.Join(rows, ","))
		r.Exec("ANALYZE TABLE p_agent")
		rows = rows[:0]
		for i := range 6000 {
			rows = append(rows, fmt.Sprintf("(UNHEX(LPAD(HEX(%d), 32, '0')), 'heavy', 'w', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 0, IF(%d %% 10 = 0, NULL, UTC_TIMESTAMP(6)))", i, i))
		}
		r.Exec("INSERT INTO p_long_run (job_key, pool, agent, token, allocated_until, slot, due_at, inserted_at, check_count, ended_at) VALUES " + strings.Join(rows, ","))
		r.Exec("ANALYZE TABLE p_long_run")
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		rows = rows[:0]
		for i := range 2000 {
			rows = append(rows, fmt.Sprintf("('exec%d', UNHEX(LPAD(HEX(%d), 16, '0')), 'func', '{}', 'w', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", i%500, i))
		}
		r.Exec("INSERT INTO p_exec_known (job_exec, fingerprint, form, guards, worker, first_at, seen_at) VALUES " + strings.Join(rows, ","))
		r.Exec("ANALYZE TABLE p_exec_known")
		tables := r.Tables()
		get := tables.Stmt.Get
		execs := func(jobExec, after string) string {
			bounds, err := execBounds(jobExec, after)
			r.Must(err)
			return tables.Fill("agent/execs", "{bounds}", bounds, "{limit}", "100")
		}
		for _, e := range []rig.Explained{
			{Statement: "agent/pools", Query: get("agent/pools"), Args: []any{mostRuns}, Reached: map[string]string{"p_long_run": "ended_at 9"}},
			{Statement: "agent/execs of one", Query: execs("exec7", ""), Args: []any{60}, Reached: map[string]string{"p_exec_known": "PRIMARY 66"}},
			{Statement: "agent/execs of one behind a cursor", Query: execs("exec7", "exec7/0000000000000007"), Args: []any{60}, Reached: map[string]string{"p_exec_known": "PRIMARY 74"}},
			{Statement: "agent/execs behind a cursor", Query: execs("", "exec7/0000000000000007"), Args: []any{60}, Reached: map[string]string{"p_exec_known": "PRIMARY 66"}},
			{Statement: "agent/leave", Query: get("agent/leave"), Args: []any{"n7", 7}, Reached: map[string]string{"p_agent": "PRIMARY 266"}},
			{Statement: "agent/forget", Query: get("agent/forget"), Args: []any{ForgottenAfter.Microseconds(), ForgottenAfter.Microseconds()}, Reached: map[string]string{"p_agent": "seen_at 8"}},
			{Statement: "agent/before", Query: get("agent/before"), Args: []any{"n7", 7}, Reached: map[string]string{"known": "PRIMARY 266"}},
		} {
			t.Run(e.Statement, func(t *testing.T) { e.Check(t, conn) })
		}
	})
}
