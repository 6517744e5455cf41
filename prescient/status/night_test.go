package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func eachServer(t *testing.T, test func(t *testing.T, r *whole.Rig)) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, whole.New(t, d, 15*time.Minute)) })
}

// stage makes a bad night: until 13:20 nine things went wrong, one after the other.
func stage(r *whole.Rig) {
	registry := rig.Registry("good", rig.NothingToDo, prescient.Guards{})
	r.Must(registry.Register("charge", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
		return nil, errors.New("no account has order " + job.EntityKey)
	}, prescient.Guards{}))
	// A row is locked, by a transaction that somebody forgot.
	r.Insert(rig.At("11:00"), prescient.NewJob{Entity: rig.Order("locked"), JobExec: "good", DueAt: rig.At("12:15")})
	// A backlog that is being caught up, two checks a second.
	r.ManyDue(rig.At("12:00"), "good", 2000, 2120)
	r.RunAt(rig.At("12:00"), registry, worker.Options{Name: "w2"})
	r.Exec("UPDATE p_job_history SET ended_at = '2026-11-20 13:19:30'")
	r.ManyDue(rig.At("12:30"), "good", 0, 600)
	// A job_exec fails, one is misspelt, one was paused and forgotten.
	r.ManyDue(rig.At("13:00"), "charge", 1000, 1040)
	r.ManyDue(rig.At("13:00"), "chrage", 1100, 1107)
	r.ManyDue(rig.At("13:00"), "remind", 1200, 1205)
	r.Must(r.Client.Pause(r.T.Context(), r.As("operator", rig.At("12:50")), prescient.Paused{JobExec: "remind", By: "ada", Reason: "deploy"}))
	// A crontab that is none, by plain SQL.
	schedules := schedule.New(r.Client)
	_, err := schedules.Create(r.T.Context(), r.AppAs("app", rig.At("12:45")), schedule.Schedule{ID: "digest", Crontabs: []string{"0 13 * * *"}, JobExec: "good"})
	r.Must(err)
	r.Must(schedules.Register(registry))
	r.Exec("UPDATE p_schedule SET crontabs = '61 * * * *' WHERE id = 'digest'")
	r.RunAt(rig.At("13:00"), registry, worker.Options{Name: "w1"})
	// A worker was killed, and a timer does not come any more.
	for _, values := range []string{"('w1', 1, 'work', 'h1', 'share 1/2', NULL, '2026-11-20 13:05:00')", "('run', 2, 'run', 'h2', 'share 2/2', '2026-11-20 13:00:10', '2026-11-20 12:45:00')",
		"('w2', 3, 'work', 'h3', 'share 1/2', NULL, '2026-11-20 13:19:50')"} {
		r.Exec("INSERT INTO p_agent (name, instance, kind, host, assignment, due_at, seen_at, started_at, pid, version, pools, concurrency, busy, long_runs, memory_bytes, clock_ms) VALUES " +
			strings.TrimSuffix(values, ")") + ", '2026-11-20 10:00:00', 7, 'v1', '{}', 64, 0.5, 0, 1000000, 0)")
	}
	// What comes next was forecast, and does not fit.
	r.Exec("INSERT INTO p_forecast_made (id, made_at, worker, took_ms, slots_from, slots_before, entries_read, schedules, schedules_all) VALUES (1, '2026-11-20 13:19:30', 'w2', 5, '2026-11-20 13:15:00', '2026-11-20 15:00:00', 9, 0, 0)")
	for _, slot := range []string{"13:15", "13:30", "13:45"} {
		r.Exec("INSERT INTO p_forecast_fit (grain, start, due, low, high, occurrences, how, concurrency, `unknown`, begins_at, last_start_at, ends_at, verdict, over_ms, made_at) VALUES ('slot', '2026-11-20 " + slot +
			":00', 9000, 9000, 9000, 0, 'exact', 64, 0, '2026-11-20 13:30:00', '2026-11-20 13:49:00', '2026-11-20 13:50:00', IF('" + slot + "' = '13:30', 'next', 'fits'), 300000, '2026-11-20 13:19:30')")
	}
	// An event that its broker refused.
	r.Exec("INSERT INTO p_event_set_aside (seq, shard, id, topic, event_key, generated_at, payload, inserted_at, refused_at, reason) VALUES (1, 1, 'e1', 'mail', 'k', '2026-11-20 13:00:00', '{}', '2026-11-20 13:00:00', '2026-11-20 13:00:01', 'too large')")
}

// One look shows what it took 23 to find out.
func TestABadNightIsOnOneScreen(t *testing.T) {
	eachServer(t, func(t *testing.T, r *whole.Rig) {
		stage(r)
		r.Account("operator")
		r.Exec("GRANT PROCESS ON *.* TO '" + r.User("operator") + "'@'%'")
		r.Exec("GRANT SELECT ON performance_schema.* TO '" + r.User("operator") + "'@'%'")
		_, holder := r.Hold("DELETE FROM p_future_job WHERE next_check_at = '2026-11-20 12:15:00'")
		var night Report
		r.Eventually("it is shown who has the row locked", func() bool { // a server that is slow may tell too late
			night = look(t, r, "operator")
			return !slices.ContainsFunc(night.Findings, func(f Finding) bool { return f.Code == "blocking.rows" && strings.Contains(f.Text, "does not show") })
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
			if !slices.ContainsFunc(night.Findings, func(f Finding) bool {
				return string(f.Section) == wants[0] && f.Code == wants[1] && strings.Contains(f.Text, wants[2])
			}) {
				t.Errorf("%s: %v is not among %+v", incident, wants, night.Findings)
			}
		}
		if len(night.Agents) != 3 || night.Agents[1].State != "dead" {
			t.Errorf("%+v", night.Agents)
		}
		if b := night.Backlog; b.Checks != 601 || b.AtLeast || !b.Slot.Equal(rig.At("12:15")) || b.Rate != 2 || b.ToGo != 300500*time.Millisecond {
			t.Errorf("%+v", b)
		}
		if len(night.Fails) != 3 || night.Fails[0].JobExec != "charge" || night.Fails[0].Reasons[0].Text != "no account has order …" || night.Fails[1].JobExec != "schedule.fire" || night.Fails[2].PutOff.Unregistered != 7 {
			t.Errorf("%+v", night.Fails)
		}
		if len(night.Next) != 2 || !night.Next[0].Start.Equal(rig.At("13:30")) || night.Next[0].Due != 9000 || !night.NextAt.Equal(rig.At("13:19:30")) {
			t.Errorf("%+v", night.Next)
		}
		if len(night.Paused) != 1 || night.Severity != doctor.SeverityBad || len(night.Unseen) != 0 {
			t.Errorf("%+v, %s, %+v", night.Paused, night.Severity, night.Unseen)
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
	eachServer(t, func(t *testing.T, r *whole.Rig) {
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
	eachServer(t, func(t *testing.T, r *whole.Rig) {
		stage(r)
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
