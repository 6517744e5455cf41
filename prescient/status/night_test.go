package status

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient/doctor"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/night"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func eachServer(t *testing.T, test func(t *testing.T, r *whole.Rig)) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, whole.New(t, d, 15*time.Minute)) })
}

// eachFlavour is eachServer for what is neither plans nor locks.
func eachFlavour(t *testing.T, test func(t *testing.T, r *whole.Rig)) {
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) { test(t, whole.New(t, d, 15*time.Minute)) })
}

// One look shows what it took 23 to find out.
func TestABadNightIsOnOneScreen(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		night.Stage(r)
		r.Account("operator")
		r.Exec("GRANT PROCESS ON *.* TO '" + r.User("operator") + "'@'%'")
		r.Exec("GRANT SELECT ON performance_schema.* TO '" + r.User("operator") + "'@'%'")
		_, holder := r.Hold("DELETE FROM p_future_job WHERE next_check_at = '2026-11-20 12:15:00'")
		var seen Report
		r.Eventually("it is shown who has the row locked", func() bool { // a server that is slow may tell too late
			seen = look(t, r, "operator")
			return !slices.ContainsFunc(seen.Findings, func(f Finding) bool { return f.Code == "blocking.rows" && strings.Contains(f.Text, "does not show") })
		})
		for incident, wants := range map[string][3]string{
			"a job_exec that fails":    {"fails", "failing", "charge: 40 of 40 calls"},
			"a misspelt job_exec":      {"fails", "put_off", "7 checks of job_exec chrage"},
			"a worker that was killed": {"works", "agents.slots", "the timer of run on h2"}, // w2 has the slots of the worker, which is in the list
			"a timer that died":        {"works", "agents.slots", "share 2/2"},
			"a forgotten pause":        {"waits", "paused", `The job_exec remind has been paused since 2026-11-20T12:50:00Z by "ada": "deploy"`},
			"a backlog":                {"late", "overdue", "601 checks are overdue"},
			"a locked row":             {"late", "blocking.rows", fmt.Sprintf("good of order/locked was not run in its slot 2026-11-20T12:15:00Z: connection %d", holder)},
			"a bad crontab":            {"waits", "schedules.timers", `"digest"`},
			"a slot that is too full":  {"next", "forecast", "2026-11-20T13:30:00Z with 9,000 checks ends 2026-11-20T13:50:00Z, 5m0s after the next begins"},
			"a refused event":          {"waits", "events.refused", `"e1"`},
		} {
			if !slices.ContainsFunc(seen.Findings, func(f Finding) bool {
				return string(f.Section) == wants[0] && f.Code == wants[1] && strings.Contains(f.Text, wants[2])
			}) {
				t.Errorf("%s: %v is not among %+v", incident, wants, seen.Findings)
			}
		}
		if len(seen.Agents) != 3 || seen.Agents[1].State != "dead" {
			t.Errorf("%+v", seen.Agents)
		}
		if b := seen.Backlog; b.Checks != 601 || b.AtLeast || !b.Slot.Equal(rig.At("12:15")) || b.Rate != 2 || b.ToGo != 300500*time.Millisecond {
			t.Errorf("%+v", b)
		}
		if len(seen.Fails) != 3 || seen.Fails[0].JobExec != "charge" || seen.Fails[0].Reasons[0].Text != "no account has order …" || seen.Fails[1].JobExec != "schedule.fire" || seen.Fails[2].PutOff.Unregistered != 7 {
			t.Errorf("%+v", seen.Fails)
		}
		if len(seen.Next) != 2 || !seen.Next[0].Start.Equal(rig.At("13:30")) || seen.Next[0].Due != 9000 || !seen.NextAt.Equal(rig.At("13:19:30")) {
			t.Errorf("%+v", seen.Next)
		}
		if len(seen.Paused) != 1 || seen.Severity != doctor.SeverityBad || len(seen.Unseen) != 0 {
			t.Errorf("%+v, %s, %+v", seen.Paused, seen.Severity, seen.Unseen)
		}
	})
}

func look(t *testing.T, r *whole.Rig, role string) Report {
	t.Helper()
	report, err := Look(t.Context(), r.As(role, rig.At("13:20")), doctor.Options{Prefix: "p_", Dialect: r.Setting})
	r.Must(err)
	return report
}

func TestWhereAllIsWellNothingIsWrong(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		calm := look(t, r, "operator")
		for _, f := range calm.Findings {
			if f.Code != "missed" { // no worker has been there yet
				t.Errorf("%+v", f)
			}
		}
		if calm.Backlog != (Backlog{}) || len(calm.Agents)+len(calm.Fails)+len(calm.Paused)+len(calm.Pools)+len(calm.Topics) > 0 {
			t.Errorf("%+v", calm)
		}
	})
}

// Each role that is on call sees all; what others lack is said, and never taken for nothing.
func TestWhoIsOnCallSeesAll(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		night.Stage(r)
		for _, role := range []string{"operator", "oncall", "owner"} {
			if seen := look(t, r, role); len(seen.Fails) != 3 || len(seen.Agents) != 3 || seen.Backlog.Checks != 601 || seen.Backlog.Rate != 2 || len(seen.Paused) != 1 {
				t.Errorf("%s: %+v", role, seen)
			}
		}
		for _, role := range []string{"analyst", "app"} {
			if seen, err := Look(t.Context(), r.As(role, rig.At("13:20")), doctor.Options{Prefix: "p_", Dialect: r.Setting}); !errno.Denied(err) {
				t.Errorf("%s: %v, %+v", role, err, seen)
			}
		}
	})
}

func TestTheRateOfABacklog(t *testing.T) {
	for name, test := range map[string]struct {
		settled, left int64
		took          time.Duration
		rate          float64
		toGo          time.Duration
	}{
		"half is done":         {300, 300, 5 * time.Minute, 1, 5 * time.Minute},
		"nobody does anything": {0, 300, 5 * time.Minute, 0, 0},
		"it has just begun":    {10, 1000, time.Millisecond, 10_000, 100 * time.Millisecond},
		"it takes for ever":    {1, 1 << 62, time.Hour, 1.0 / 3600, maxToGo},
	} {
		if rate, toGo := paceOf(test.settled, test.left, test.took); rate != test.rate || toGo != test.toGo {
			t.Errorf("%s: %v, %s", name, rate, toGo)
		}
	}
}

// Those of the doctor's codes that a report has are the doctor's.
func TestEveryLookIsAnExamination(t *testing.T) {
	if err := doctor.CheckCodes(codes()); err != nil {
		t.Error(err)
	}
}

func TestNoStatementScansOrSorts(t *testing.T) {
	eachServer(t, func(t *testing.T, r *whole.Rig) {
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		conn, err := r.As("operator", time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		rig.CheckPlans(t, conn, []rig.Explained{{Statement: "status/pace", Query: f.Tables.Stmt.Get("status/pace"), Args: []any{rig.At("01:00"), rig.At("06:00"), paceProbe},
			Reached: map[string]string{"p_job_history": "PRIMARY 8"}},
			{Statement: "status/last_slots", Query: f.Tables.Stmt.Get("status/last_slots"), Args: []any{rig.At("01:00"), rig.At("03:00")}, Reached: map[string]string{"p_slot_run": rig.BySlot}}}, f.Tables.Stmt, []string{"status"})
	})
}
