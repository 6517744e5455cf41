// Package night is a rig of a bad night, for tests of what is shown of it.
package night

import (
	"context"
	"errors"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

// Stage makes a bad night: until 13:20 ten things went wrong, one after the other.
func Stage(r *whole.Rig) {
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
