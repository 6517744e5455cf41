package doctor

import (
	"strings"
	"testing"
	"time"

	"prescient/prescient/agent"
	"prescient/slots"
)

func TestAgentsAreJudged(t *testing.T) {
	grid, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	an := func(name string, change ...func(*agent.Known)) agent.Known {
		a := agent.Known{Name: name, State: agent.Live, Host: "h-" + name, PID: 7, Version: "v1", Assignment: "every slot", Silent: 3 * time.Second}
		for _, c := range change {
			c(&a)
		}
		return a
	}
	serves := func(what string) func(*agent.Known) { return func(a *agent.Known) { a.Assignment = what } }
	in := func(pools ...string) func(*agent.Known) {
		return func(a *agent.Known) {
			a.Pools = make(map[string]int)
			for _, pool := range pools {
				a.Pools[pool] = 4
			}
		}
	}
	timer := func(kind agent.Kind) func(a *agent.Known) { return func(a *agent.Known) { a.Kind = kind } }
	dead := func(a *agent.Known) { a.State, a.Silent = agent.Dead, 10*time.Minute }
	stopping := func(a *agent.Known) { a.State = agent.Stopping }
	drains := func(a *agent.Known) { a.State, a.Drain, a.WantedBy = agent.Draining, true, "ada" }
	connections := func(n int) func(*agent.Known) { return func(a *agent.Known) { a.Connections = n } }
	for _, test := range []struct {
		name   string
		agents []agent.Known
		pools  []string
		runs   map[string]int
		code   string
		want   Severity
		says   string
	}{
		{"timers alone", nil, []string{"heavy"}, nil, "agents", SeverityOK, "There is no agent"},
		{"one for all", []agent.Known{an("a")}, nil, nil, "agents", SeverityOK, "1 live, 0 stopping, and 0 dead"},
		{"halves", []agent.Known{an("a", serves("share 1/2")), an("b", serves("minutes 15,45"))}, nil, nil, "agents", SeverityOK, "2 live"},
		{"two of a share", []agent.Known{an("a", serves("share 1/2")), an("b", serves("share 1/2")), an("c", serves("share 2/2"))}, nil, nil, "agents", SeverityOK, "3 live"},
		{"half is missing", []agent.Known{an("a", serves("share 1/2"))}, nil, nil, "agents.slots", SeverityWarn, "nobody serves :15, :45"},
		{"half is of one that stops", []agent.Known{an("a", serves("share 1/2")), an("b", serves("share 2/2"), stopping)}, nil, nil, "agents.slots", SeverityWarn, "nobody serves :15, :45"},
		{"one drains beside another", []agent.Known{an("a"), an("b", drains)}, nil, nil, "agents", SeverityOK, "1 live, 1 draining, 0 stopping, and 0 dead for less than a day. To take nothing new were told b by ada: "},
		{"one drains alone", []agent.Known{an("a", drains)}, nil, nil, "agents.slots", SeverityWarn, "No live agent serves any slot. The last was a, draining, heard of 3s ago. To take nothing new were told a by ada: "},
		{"half is of one that drains", []agent.Known{an("a", serves("share 1/2")), an("b", serves("share 2/2"), drains)}, nil, nil, "agents.slots", SeverityWarn, "nobody serves :15, :45. To take nothing new were told b by ada: "},
		{"all are dead", []agent.Known{an("a", dead), an("b", dead)}, nil, nil, "agents.slots", SeverityWarn, "No live agent serves any slot. The last was a, dead, heard of 10m0s ago."},
		{"a timer for all, and one that sweeps", []agent.Known{an("run", timer(agent.Run)), an("sweep", timer(agent.Sweep), serves("no slot"))}, nil, nil, "agents", SeverityOK, "2 live"},
		{"a dead timer", []agent.Known{an("run", timer(agent.Run), serves("share 1/2")), an("run", timer(agent.Run), serves("share 2/2"), dead), an("sweep", timer(agent.Sweep), serves("no slot"))}, nil, nil,
			"agents.slots", SeverityWarn, "nobody serves :15, :45. Dead agents served these slots: the timer of run on h-run (share 2/2), heard of 10m0s ago."},
		{"a dead timer whose slots another has", []agent.Known{an("a"), an("b", timer(agent.Run), serves("share 2/2"), dead)}, nil, nil, "agents", SeverityOK, "1 dead"},
		{"timers that serve no slot", []agent.Known{an("sweep", timer(agent.Sweep), serves("no slot")), an("b", timer(agent.Run), dead)}, nil, nil, "agents.slots", SeverityWarn,
			"No live agent serves any slot. The last was the timer of run b, dead"},
		{"nobody sweeps", []agent.Known{an("run", timer(agent.Run)), an("nightly", timer(agent.Sweep), serves("no slot"), dead)}, nil, nil, "agents.sweep", SeverityWarn,
			"No live agent or timer sweeps. Checks that come late, or that a dead worker left, wait. The last was the timer of sweep nightly, dead, heard of 10m0s ago."},
		{"timers of one name", []agent.Known{an("a"), an("a", timer(agent.Run)), an("a", timer(agent.Sweep), serves("no slot"))}, nil, nil, "agents", SeverityOK, "3 live"},
		{"of another resolution", []agent.Known{an("a", serves("minutes 7"))}, nil, nil, "agents.slots", SeverityBad, `"minutes 7", which means nothing at a resolution of 15m0s`},
		{"a pool that is served", []agent.Known{an("a", in("heavy", "eu"))}, []string{"eu", "heavy"}, nil, "agents", SeverityOK, "1 live"},
		{"a pool that is not", []agent.Known{an("a", in("heavy"))}, []string{"heavy", "us", "eu", "us"}, nil, "agents.pools", SeverityBad, "pools eu, us. "},
		{"a pool of the dead", []agent.Known{an("a"), an("b", in("eu"), dead)}, []string{"eu"}, nil, "agents.pools", SeverityBad, "pools eu. "},
		{"one died with runs", []agent.Known{an("a"), an("b", dead)}, nil, map[string]int{"b": 3, "a": 1}, "agents.runs", SeverityWarn, "b on h-b (3, heard of 10m0s ago)"},
		{"one died with none", []agent.Known{an("a"), an("b", dead)}, nil, map[string]int{"a": 1}, "agents", SeverityOK, "1 dead"},
		{"one was started again under its name", []agent.Known{an("a"), an("a", dead)}, nil, map[string]int{"a": 1}, "agents", SeverityOK, "1 dead"},
		{"one name twice", []agent.Known{an("a"), an("a")}, nil, nil, "agents.names", SeverityWarn, "a is process 7 on h-a and process 7 on h-a"},
		{"versions", []agent.Known{an("a"), an("b", func(a *agent.Known) { a.Version = "v2" })}, nil, nil, "agents.versions", SeverityWarn, `"v1" (1), "v2" (1)`},
		{"a version that is gone", []agent.Known{an("a"), an("b", dead, func(a *agent.Known) { a.Version = "v0" })}, nil, nil, "agents", SeverityOK, "1 live"},
		{"a clock", []agent.Known{an("a", func(a *agent.Known) { a.Ahead = -1200 * time.Millisecond })}, nil, nil, "agents.clock", SeverityWarn, "a on h-a by -1.2s"},
		{"as many connections as the server takes", []agent.Known{an("a", connections(50)), an("b", connections(50)), an("c", connections(7), dead)}, nil, nil, "agents", SeverityOK, "2 live"},
		{"more than the server takes", []agent.Known{an("a", connections(50)), an("b", connections(51), stopping)}, nil, nil, "agents.connections", SeverityWarn, "2 agents may have 101 connections at a time, but the server takes 100"},
	} {
		found := roll{agents: test.agents, grid: grid, pools: test.pools, runs: test.runs, clock: time.Second, takes: 100}.judge()
		f := finding(found, test.code)
		if len(found) != 1 || f.Severity != test.want || !strings.Contains(f.Text, test.says) || test.want != SeverityOK && f.Do == "" {
			t.Errorf("%s: %+v; want %s and %q", test.name, found, test.want, test.says)
		}
	}
}

func TestTheDoctorReadsAgentsAndTheirRuns(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		for _, use := range []Use{UseWorker, UseOperator, UseOwner} {
			wantFinding(t, r.examine(time.Time{}, Options{Use: use, Pools: []string{"heavy"}}), "agents", SeverityOK, "There is no agent")
		}
		r.Exec(`INSERT INTO p_agent (name, instance, host, pid, version, assignment, pools, concurrency, busy, long_runs, memory_bytes, clock_ms, started_at, seen_at)
			VALUES ('a', 1, 'h', 1, 'v1', 'share 1/2', '{"eu": 2}', 32, 0, 0, 0, 5000, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)),
				('b', 2, 'h', 2, 'v1', 'share 2/2', '{"heavy": 2}', 32, 0, 0, 0, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 61 SECOND)`)
		r.Exec(`INSERT INTO p_long_run (job_key, agent, token, allocated_until, slot, due_at, inserted_at, check_count)
			VALUES (REPEAT('k', 16), 'b', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 0)`)
		r.Exec(`INSERT INTO p_long_run (job_key, pool, token, allocated_until, slot, due_at, inserted_at, check_count)
			VALUES (REPEAT('l', 16), 'of-a-run', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 0)`)
		r.Exec(`INSERT INTO p_long_run (job_key, pool, token, slot, due_at, inserted_at, check_count, ended_at)
			VALUES (REPEAT('m', 16), 'of-one-that-ended', 1, UTC_TIMESTAMP(), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 0, UTC_TIMESTAMP(6))`)
		found := r.examine(time.Time{}, Options{Pools: []string{"heavy", "eu"}})
		wantFinding(t, found, "agents.slots", SeverityWarn, "nobody serves :15, :45")
		wantFinding(t, found, "agents.pools", SeverityBad, "heavy, of-a-run (1 waiting). ")
		wantFinding(t, found, "agents.runs", SeverityWarn, "b on h (1")
		wantFinding(t, found, "agents.clock", SeverityWarn, "a on h by 5s")
	})
}
