package gauges_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient"
	"prescient/prescient/gauges"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// series are the gauges of an installation at a time, as a viewer sees them, by name and labels.
func series(t *testing.T, c prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]float64)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := strings.TrimPrefix(family.GetName(), "prescient_")
			for _, l := range metric.GetLabel() {
				name += " " + l.GetValue()
			}
			all[name] = metric.GetGauge().GetValue()
		}
	}
	return all
}

func TestTheDatabaseTellsOfWhatIsLateFailsAndWaits(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := whole.New(t, d, 15*time.Minute)
		tables := r.Tables()
		at := func(clock string) map[string]float64 {
			return series(t, gauges.NewDatabase(r.As("serve-viewer", rig.At(clock)), tables, 0))
		}
		registry := rig.Registry("good", rig.NothingToDo, prescient.Guards{})
		r.Must(registry.Register("bad", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, errors.New("no") }, prescient.Guards{MaxErrors: prescient.None}))
		r.ManyDue(rig.At("13:00"), "good", 0, 20)
		r.ManyDue(rig.At("13:15"), "bad", 100, 106)
		r.ManyDue(rig.At("13:30"), "good", 200, 203)
		r.ManyDue(rig.At("14:00"), "good", 300, 302)
		r.ManyDue(rig.At("13:15"), "misspelt", 400, 401)
		r.Exec("UPDATE p_slot_config SET changed_at = '2026-11-20 00:00:00'")
		for _, slot := range []string{"13:00", "13:15"} {
			r.RunAt(rig.At(slot), registry, worker.Options{Name: "w1"})
		}
		r.Exec("INSERT INTO p_job_pause (job_exec, since, paused_by, reason) VALUES ('good', '2026-11-20 13:40:00', 'ada', '')")
		r.Exec("INSERT INTO p_event_set_aside (seq, shard, id, topic, event_key, generated_at, inserted_at, refused_at, reason) VALUES (1, 0, 'e', 't', 'k', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'no')")
		got := at("13:50")
		for name, want := range map[string]float64{
			"database_up": 1, "backlog_age_seconds": 1200, "overdue_checks": 4, "overdue_ends_per_second": 0, "pending_checks 1h": 6, "pending_checks 365d": 6,
			"last_slots_unfinished": 8, "lately_calls bad": 6, "lately_call_errors bad": 6, "lately_unsettled bad": 6, "lately_calls good": 20, "lately_unsettled good": 0,
			"pauses": 1, "paused_seconds good": 600, "set_aside_events": 1, "agents work live": 0, "lately_unregistered misspelt": 1,
		} {
			if is, there := got[name]; !there || is != want {
				t.Errorf("%s: %v, %t; want %v", name, is, there, want)
			}
		}
		if late, there := got["last_slots_lateness_seconds"]; !there || late < 0 || late > 900 {
			t.Errorf("late by %v, %t", late, there)
		}
		if _, there := got["forecast_over_seconds"]; there {
			t.Error("nobody made a forecast")
		}
		if n := at("13:10")["pending_checks 1h"]; n != 6 {
			t.Errorf("%v checks within an hour", n)
		}
		// Slots from before there were tables are nobody's fault.
		r.Exec("UPDATE p_slot_config SET changed_at = '2026-11-20 13:20:00'")
		if n, there := at("14:01")["last_slots_unfinished"]; !there || n != 2 {
			t.Errorf("%v slots are unfinished", n)
		}
	})
}

func TestOfManyNamesTheWorstHaveALabel(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := whole.New(t, d, 15*time.Minute)
		var rows, pauses []string
		for i := range 500 {
			rows = append(rows, fmt.Sprintf("('2026-11-20 13:00:00', %d, 'exec%03d', 'order', 10, %d, 100, '{}', '{}')", i%60, i, i%300))
			pauses = append(pauses, fmt.Sprintf("('exec%03d')", i))
		}
		r.Exec("INSERT INTO p_exec_run (slot, bucket, job_exec, entity_name, calls, errors, run_ms, run_buckets, lateness_buckets) VALUES " + strings.Join(rows, ","))
		if r.Setting != "plain" {
			r.Exec("INSERT INTO p_job_pause (job_exec) VALUES " + strings.Join(pauses, ","))
		}
		tables := r.Tables()
		got := series(t, gauges.NewDatabase(r.As("serve-viewer", rig.At("13:20")), tables, 0))
		count := make(map[string]int)
		for name := range got {
			name, _, _ := strings.Cut(name, " ")
			count[name]++
		}
		if _, there := got["lately_calls exec299"]; !there || count["lately_calls"] != 200 || r.Setting != "plain" && (count["paused_seconds"] != 100 || got["pauses"] != 500) {
			t.Errorf("%v", count)
		}
	})
}

func TestADatabaseThatDoesNotAnswerIsToldOf(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := whole.New(t, d, 15*time.Minute)
		tables, db := r.Tables(), r.As("serve-viewer", time.Time{})
		r.Must(db.Close())
		if got := series(t, gauges.NewDatabase(db, tables, 0)); len(got) != 1 || got["database_up"] != 0 {
			t.Errorf("%v", got)
		}
	})
}
