package serve_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/agent"
)

// Of two timers that share the slots one dies. A sweep runs what was the dead one's, a minute late, so that nothing is left over to tell.
func TestADeadTimerIsFoundThoughASweepDoesItsWork(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Variables["PRESCIENT_CONFIG"] = r.Configure("jobs: {command: [{exec: report, run: [/bin/true]}]}\n")
		r.Begin()
		r.Exec("UPDATE slot_config SET changed_at = '2026-11-20 10:00:00'")
		doctor := func(clock string, texts ...string) {
			r.Helper()
			r.At(clock)
			r.Says(r.Execute("doctor", "--only", "agents,coverage,missed").Out, texts...)
		}
		for _, due := range []string{"10:14", "10:29", "10:44", "10:59", "11:14"} {
			r.OK("insert", "--entity", "order/"+due, "--exec", "report", "--at", "2026-11-20T"+due+":00Z")
		}
		for i, clock := range []string{"10:15:01", "10:30:01", "10:45:01"} {
			r.At(clock)
			r.OK("run", "--worker-share", []string{"2/2", "1/2"}[i%2])
			r.At(strings.TrimSuffix(clock, ":01") + ":59")
			r.OK("sweep")
		}
		doctor("10:46:01", "coverage: Every slot is served exactly once", "missed: Each of the last 2 slots was served")
		r.At("11:00:59")
		r.OK("sweep")
		r.At("11:15:01")
		r.OK("run", "--worker-share", "2/2")
		if n := r.Count("SELECT COUNT(*) FROM job_history WHERE outcome = 'done'"); n != 5 {
			r.Errorf("%d checks ended", n)
		}
		r.At("11:15:59")
		r.OK("sweep")
		doctor("11:16:00", "warn  agents.slots: Of the live agents nobody serves :00, :30. Dead agents served these slots: the timer of run on ", "(share 1/2), heard of 45m59s ago",
			"warn  coverage.unserved: Nobody serves :00, :30", "warn  missed: 1 of 4 slots since 2026-11-20T10:15:00Z was not served in time: ", "1 of these a sweep alone served, late")
		dead := 0
		for _, a := range agents(r) {
			if a.State == agent.Dead {
				dead++
			}
		}
		if all := agents(r); len(all) != 3 || dead != 1 {
			r.Errorf("%+v", all)
		}
		r.Says(r.OK("agents"), "run", "sweep", "share 1/2", "dead, did not come", "overdue slots")
		if said := r.OK("agents"); strings.Count(said, "(0%)") != dead {
			r.Errorf("what the dead one said last is not told apart:\n%s", said)
		}

		// It is back; a sweep that stopped is found, too.
		r.At("11:30:01")
		r.OK("run", "--worker-share", "1/2", "--worker-name", "host-2")
		r.At("11:45:01")
		r.OK("run", "--worker-share", "2/2")
		doctor("11:47:05", "warn  agents.sweep: No live agent or timer sweeps", " The last was the timer of sweep, dead, heard of 31m6s ago")
		if got := r.Execute("doctor", "--only", "agents"); strings.Contains(got.Out, "agents.slots") || got.Code != cmd.ExitWarn {
			r.Errorf("once it is back: %v", got)
		}
	})
}
