package browser_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/ops/ruled"
	"prescient/prescient/worker"
)

// staged is an installation in its everyday life: orders that ship or don't, a carrier that answers with errors, schedules, a job, events.
func staged(t *testing.T) *site {
	t.Helper()
	s := onOneServer(t, now)
	s.orders()
	s.worked("11:45", "12:00", "12:15", "12:45", "13:00", "13:15", "13:30") // nobody was there at 12:30
	s.schedules()
	s.rule()
	s.nightly()
	s.agents()
	s.events()
	s.figures()
	return s
}

// orders are placed from half past eight on, and have to be shipped within three hours.
func (s *site) orders() {
	s.T.Helper()
	var jobs []prescient.NewJob
	for i := range 96 {
		due := rig.At("11:31").Add(time.Duration(i) * 2 * time.Minute)
		key := fmt.Sprint(20 + i)
		jobs = append(jobs, prescient.NewJob{Entity: rig.Order(key), JobExec: "order-unshipped", DueAt: due, Payload: json.RawMessage(`{"placed_by":"customer/` + key + `","alert":["ops@shop.example"]}`)})
		if i%4 == 2 {
			jobs = append(jobs, prescient.NewJob{Entity: rig.Order(key), JobExec: "carrier-late", DueAt: due.Add(10 * time.Minute)})
		}
		if i%6 == 4 {
			jobs = append(jobs, prescient.NewJob{Entity: rig.Order(key), JobExec: "invoice-unpaid", DueAt: due.Add(14 * 24 * time.Hour)})
		}
	}
	jobs = append(jobs, prescient.NewJob{Entity: rig.Order("62"), JobExec: "invoice-unpaid", Tag: "first", DueAt: rig.At("11:40")})
	_, err := s.Client.InsertMany(s.T.Context(), s.AppAt(rig.At("08:30")), jobs)
	s.Must(err)
}

// worked has a worker run slots.
func (s *site) worked(slots ...string) {
	s.T.Helper()
	registry := rig.Registry("order-unshipped", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
		if len(job.EntityKey)%2 == 0 && job.EntityKey[len(job.EntityKey)-1]%3 == 2 {
			return prescient.At(job.NextCheckAt.Add(30 * time.Minute)), nil // not shipped yet
		}
		return nil, nil
	}, prescient.Guards{MaxChecks: 9})
	registry.MustRegister("carrier-late", func(context.Context, prescient.FutureJob) (*time.Time, error) {
		return nil, errors.New("carrier: GET /v2/parcels: 503 Service Unavailable")
	}, prescient.Guards{MaxErrors: 2})
	registry.MustRegister("invoice-unpaid", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
	for _, at := range slots {
		w, err := worker.New(s.T.Context(), s.As("worker", rig.At(at).Add(1200*time.Millisecond)), worker.Options{Prefix: "p_", Dialect: s.Setting, Registry: registry, Name: "app-1:4021"})
		s.Must(err)
		_, err = w.Run(s.T.Context())
		s.Must(err)
	}
}

// schedules are three, of which one was changed and one is paused.
func (s *site) schedules() {
	s.T.Helper()
	text := func(text string) *string { return &text }
	o := s.OpsAt(rig.At("09:00"))
	digest := definition.Schedule{ID: "digest/7", JobExec: "digest", Owner: "customer/7", Payload: text("user 7"), Timing: definition.Timing{Crontabs: []string{"30 8 * * mon-fri"}, Zone: "Europe/Berlin"}}
	for _, one := range []definition.Schedule{digest,
		{ID: "sync/7", JobExec: "sync", Owner: "customer/7", Long: true, Timing: definition.Timing{Crontabs: []string{"@every 1h"}, QuotaMS: 50 * 60_000}},
		{ID: "stock-count", Topic: "stock.count", Timing: definition.Timing{Crontabs: []string{"0 6 1 * *", "0 6 15 * *"}, Zone: "America/New_York"}}} {
		_, err := ops.CreateSchedule.Do(s.T.Context(), o, by(ops.Operator, "customer 7 asked for it"), one)
		s.Must(err)
	}
	digest.Crontabs, digest.CatchUp, digest.CatchUpWithinMS = []string{"30 8 * * mon-fri", "0 10 * * sat"}, "once", 3_600_000
	_, err := ops.UpdateSchedule.Do(s.T.Context(), s.OpsAt(rig.At("10:30")), by(ops.Operator, "on Saturdays, too"), ops.ScheduleUpdate{Schedule: digest})
	s.Must(err)
	_, err = ops.PauseSchedule.Do(s.T.Context(), s.OpsAt(rig.At("11:00")), by(ops.Admin, "stock is counted by hand this month"), ops.ScheduleAsked{ID: "stock-count"})
	s.Must(err)
}

// rule is one that was changed, with a check that is pending.
func (s *site) rule() {
	s.T.Helper()
	remind := ruled.Definition{Name: "remind", Occasion: "order.placed", JobExec: "send-reminder", DelayMS: 3 * 3_600_000, Ends: []string{"order.shipped", "order.cancelled"}, Payload: json.RawMessage(`{"tone":"kind"}`)}
	o := s.OpsAt(rig.At("09:00"))
	_, err := ops.SetRule.Do(s.T.Context(), o, by(ops.Operator, "customers forget"), ruled.Setting{Definition: remind, New: true})
	s.Must(err)
	_, err = ops.ReportOccasion.Do(s.T.Context(), s.OpsAt(rig.At("13:20")), by(ops.Operator, ""), ruled.Reporting{Occasion: "order.placed", Entity: "order/71"})
	s.Must(err)
	remind.DelayMS += 3_600_000
	_, err = ops.SetRule.Do(s.T.Context(), s.OpsAt(rig.At("13:30")), by(ops.Operator, "customers asked for an hour more"), ruled.Setting{Definition: remind, Version: 1})
	s.Must(err)
}

// nightly is a job, with a run that has failed once.
func (s *site) nightly() {
	s.T.Helper()
	job := definition.Job{Name: "nightly", Timing: definition.Timing{Crontabs: []string{"0 3 * * *"}, Zone: "Europe/Berlin"}, Steps: []definition.Step{
		{Name: "export", JobExec: "export-orders", Arguments: json.RawMessage(`{"format":"csv"}`), Retries: 2}, {Name: "report", JobExec: "send-report", Arguments: json.RawMessage(`{"to":"sales@shop.example"}`)}}}
	_, err := ops.CreateJob.Do(s.T.Context(), s.OpsAt(rig.At("09:00")), by(ops.Operator, ""), job)
	s.Must(err)
	job.Steps[0].Retries = 3
	_, err = ops.UpdateJob.Do(s.T.Context(), s.OpsAt(rig.At("09:30")), by(ops.Operator, "the carrier is slow"), ops.JobUpdate{Job: job, Version: 1})
	s.Must(err)
	s.Exec(`INSERT INTO p_job_run_log (job, occurrence, job_key, version, scheduled_at, started_at, ended_at, agent, takeovers, result, error) VALUES
		('nightly', '1795147200', REPEAT('a', 16), 1, '2026-11-20 02:00:00', '2026-11-20 02:00:01', '2026-11-20 02:07:44', 'app-1:4021', 0, 'done', NULL)`)
	s.Exec(`INSERT INTO p_step_run_log (job, occurrence, seq, position, step, job_exec, attempt, scheduled_at, started_at, ended_at, agent, result, error, output, output_cut) VALUES
		('nightly', '1795147200', 1, 1, 'export', 'export-orders', 1, '2026-11-20 02:00:00', '2026-11-20 02:00:01', '2026-11-20 02:01:01', 'app-1:4021', 'failed', 'the file is locked', 'opening orders.csv\nthe file is locked\n', 0),
		('nightly', '1795147200', 2, 1, 'export', 'export-orders', 2, '2026-11-20 02:00:00', '2026-11-20 02:01:11', '2026-11-20 02:05:40', 'app-1:4021', 'done', NULL, 'opening orders.csv\n18,204 orders written\n', 0),
		('nightly', '1795147200', 3, 2, 'report', 'send-report', 1, '2026-11-20 02:00:00', '2026-11-20 02:05:40', '2026-11-20 02:07:44', 'app-1:4021', 'done', NULL, 'sent to sales@shop.example\n', 0)`)
}

// agents are two, and one that has gone.
func (s *site) agents() {
	s.T.Helper()
	s.Exec(`INSERT INTO p_agent (name, instance, host, pid, version, assignment, pools, concurrency, busy, long_runs, load_1m, memory_bytes, clock_ms, started_at, seen_at) VALUES
		('app-1:4021', 1, 'app-1.shop.example', 4021, 'v2.3.1', 'every slot', '{"heavy": 4}', 64, 0.31, 1, 1.25, 104857600, 3, '2026-11-18 07:10:00', '2026-11-20 13:40:05'),
		('app-2:3977', 2, 'app-2.shop.example', 3977, 'v2.3.1', 'every slot', '{}', 64, 0.02, 0, 0.4, 83886080, -12, '2026-11-18 07:11:00', '2026-11-20 13:40:02'),
		('app-3:811', 3, 'app-3.shop.example', 811, 'v2.3.0', 'every slot', '{}', 64, 0, 0, 0.4, 83886080, -12, '2026-11-18 07:11:00', '2026-11-20 12:31:02')`)
	s.Exec(`INSERT INTO p_long_run (job_key, schedule_id, occurrence, agent, token, allocated_until, slot, due_at, inserted_at, check_count, started_at, called_at, pool) VALUES
		(REPEAT('s', 16), 'sync/7', '1795179600', 'app-1:4021', 1, '2026-11-20 13:50:00', '2026-11-20 13:00:00', '2026-11-20 13:00:00', '2026-11-20 13:00:00', 0, '2026-11-20 13:00:02', '2026-11-20 13:00:02', '')`)
}

// events are two that a broker refused, and one that waits.
func (s *site) events() {
	s.T.Helper()
	s.Exec(`INSERT INTO p_event_outbox (shard, seq, id, topic, event_key, generated_at, payload, inserted_at) VALUES (3, 5, 'late-77', 'orders.late', 'order/77', '2026-11-20 13:31:00', '{}', '2026-11-20 13:31:00')`)
	s.Exec(`INSERT INTO p_event_topic (topic, failing_since, failed_at, event_id, reason) VALUES ('orders.late', '2026-11-20 13:31:01', '2026-11-20 13:40:00', 'late-77', 'dial tcp 10.0.3.7:9092: connection refused')`)
	for i, id := range []string{"late-42", "late-54"} {
		s.Exec(`INSERT INTO p_event_set_aside (seq, shard, id, topic, event_key, generated_at, payload, inserted_at, refused_at, reason) VALUES (?, 3, ?, 'orders.late', ?, '2026-11-20 12:01:00', '{}', '2026-11-20 12:01:00', '2026-11-20 12:01:05', 'the message is larger than the broker takes')`,
			1001+i, id, "order/"+id[5:])
	}
}

// figures are sums of two days, and a forecast.
func (s *site) figures() {
	s.T.Helper()
	s.Exec(`INSERT INTO p_stats (grain, start, job_exec, entity_name, outcome, ends, calls, errors, not_yet, waited, started, run_ms, total_ms, lateness_ms, due_lateness_ms) VALUES
		('day', '2026-11-18', 'order-unshipped', 'order', 'done', 300, 500, 0, 200, 100, 300, 30000, 50000, 3000, 3000), ('day', '2026-11-18', 'order-unshipped', 'order', 'max_checks', 4, 24, 0, 24, 4, 4, 400, 2400, 40, 40),
		('day', '2026-11-19', 'order-unshipped', 'order', 'done', 290, 460, 0, 180, 90, 290, 30000, 50000, 3000, 3000), ('day', '2026-11-19', 'carrier-late', 'order', 'failed', 9, 18, 18, 0, 0, 9, 900, 1800, 90, 90)`)
	s.Exec(`INSERT INTO p_stats_bucket (grain, start, job_exec, entity_name, measure, bucket, n) VALUES ('day', '2026-11-18', 'order-unshipped', 'order', 'run', 95, 304), ('day', '2026-11-18', 'order-unshipped', 'order', 'lateness', 48, 304),
		('day', '2026-11-18', 'order-unshipped', 'order', 'checks', 0, 200), ('day', '2026-11-18', 'order-unshipped', 'order', 'checks', 15, 100), ('day', '2026-11-18', 'order-unshipped', 'order', 'checks', 33, 4), ('day', '2026-11-19', 'order-unshipped', 'order', 'run', 96, 290)`)
	s.Exec("INSERT INTO p_forecast_made (id, made_at, worker, took_ms, slots_from, slots_before, entries_read, schedules, schedules_all) VALUES (1, '2026-11-20 13:40:00', 'app-1:4021', 5, '2026-11-20 13:45:00', '2026-11-20 19:45:00', 9, 3, 3)")
	for i := range 24 {
		slot := rig.At("13:45").Add(time.Duration(i) * 15 * time.Minute)
		verdict := "fits"
		if i == 9 {
			verdict = "next"
		}
		s.Exec("INSERT INTO p_forecast_fit (grain, start, due, low, high, occurrences, how, concurrency, `unknown`, begins_at, last_start_at, ends_at, verdict, over_ms, made_at) VALUES ('slot', ?, ?, ?, ?, 0, 'exact', 64, 0, ?, ?, ?, ?, 0, '2026-11-20 13:40:00')",
			slot.Format(time.DateTime), 9+i%7, 9+i%7, 9+i%7, slot.Format(time.DateTime), slot.Format(time.DateTime), slot.Add(time.Duration(20+i)*time.Second).Format(time.DateTime), verdict)
	}
}
