package forecast

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/tally"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

// What the forecast says of slots is what their runs then count.
func TestTheForecastIsWhatThenHappens(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		const run, concurrency = 20 * time.Millisecond, 8
		registry := rig.Registry("check", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
			time.Sleep(run)
			if strings.HasSuffix(job.EntityKey, "5") && job.CheckCount == 0 {
				return prescient.At(rig.At("15:00")), nil
			}
			return nil, nil
		}, prescient.Guards{Concurrency: concurrency})
		r.Must(registry.Register("quick", rig.NothingToDo, prescient.Guards{}))
		options := worker.Options{Load: worker.Load{Concurrency: concurrency, Pace: worker.PaceFull}}
		want := map[string]int{"13:00": 40, "13:15": 400, "13:30": 0, "13:45": 120}
		for i, slot := range []string{"13:00", "13:15", "13:30", "13:45"} {
			r.ManyDue(rig.At(slot), "check", 1000*i, 1000*i+want[slot])
		}
		r.ManyDue(rig.At("13:15"), "quick", 5000, 5030)
		r.RunAt(rig.At("13:00"), registry, options) // what is known of calls comes from it
		r.lives("a", concurrency, rig.At("13:01"))
		r.analyze()
		report := r.makeAt(rig.At("13:01"))
		for _, clock := range []string{"13:15", "13:30", "13:45"} {
			told := partAt(t, report.Slots, rig.At(clock))
			began := time.Now()
			figures := r.RunAt(rig.At(clock), registry, options)
			took := time.Since(began)
			if told.How == Exact && told.Due != int64(figures.Rows()) || told.Low > int64(figures.Rows()) || told.High < int64(figures.Rows()) {
				t.Errorf("%s: %+v; %d rows were run", clock, told, figures.Rows())
			}
			line := told.execs()["check"]
			if want := want[clock]; line.Low > int64(want) || line.High < int64(want) || want > 0 && (line.Repeats < line.Due/20 || line.Repeats > line.Due/5) {
				t.Errorf("%s: %+v; want %d, a tenth of which come back", clock, line, want)
			}
			if figures.Rows() == 0 {
				continue
			}
			// The run times that were measured, and those that come, are longer where the machine has other things to do; and the server's part is not
			// in the forecast.
			ahead := told.EndsAt.Sub(*told.BeginsAt)
			t.Logf("%s: %d rows told of (%s), %d were run; told %s, took %s", clock, told.Due, told.How, figures.Rows(), ahead, took.Round(time.Millisecond))
			if told.Verdict != Fits || !told.BeginsAt.Equal(rig.At(clock)) || took < ahead/8 || took > 8*ahead+2*time.Second {
				t.Errorf("%s: %+v; it took %s", clock, told, took)
			}
		}
		if day := partAt(t, report.Days, rig.Day); day.Due != 554 || day.How != Exact || day.Verdict != Fits {
			t.Errorf("%+v", day)
		}
	})
}

// A schedule's next occurrence is pending; those after it come from its crontabs.
func TestOccurrencesOfSchedulesAreToldBeforeTheyArePending(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		schedules := schedule.New(r.Client)
		create := func(s schedule.Schedule) {
			t.Helper()
			_, err := schedules.Create(t.Context(), r.AppAt(rig.At("12:55")), s)
			r.Must(err)
		}
		create(schedule.Schedule{ID: "often", Crontabs: []string{"*/30 * * * *"}, JobExec: "check"})
		create(schedule.Schedule{ID: "daily", Crontabs: []string{"0 3 * * *"}, JobExec: "report"})
		create(schedule.Schedule{ID: "paused", Crontabs: []string{"*/15 * * * *"}, JobExec: "never"})
		r.Did(schedules.Pause(t.Context(), r.AppAt(rig.At("12:56")), "paused"))
		registry := rig.Registry("check", rig.NothingToDo, prescient.Guards{})
		r.Must(registry.Register("report", rig.NothingToDo, prescient.Guards{}))
		r.Must(schedules.Register(registry))
		report := r.makeAt(rig.At("12:57"))
		if report.Schedules != 3 || report.SchedulesAll != 3 {
			t.Errorf("%+v", report)
		}
		for _, test := range []struct {
			clock      string
			due, later int64
		}{{"13:00", 1, 0}, {"13:15", 0, 0}, {"13:30", 0, 1}, {"14:00", 0, 1}} {
			p := partAt(t, report.Slots, rig.At(test.clock))
			for _, name := range []string{"check", reserved.TimerExec} {
				if l := p.execs()[name]; l.Due != test.due || l.Occurrences != test.later {
					t.Errorf("%s: %+v; want %d and %d", test.clock, l, test.due, test.later)
				}
			}
		}
		for i, day := range report.Days {
			of := day.execs()
			switch check, daily, never := of["check"], of["report"], of["never"]; {
			case never != Line{}:
				t.Errorf("%+v", never)
			case i == 0 && (check.Due+check.Occurrences != 22 || daily.Due+daily.Occurrences != 0):
				t.Errorf("%s: %+v, %+v", day.Start, check, daily)
			case i > 0 && (check.Due+check.Occurrences != 48 || daily.Due+daily.Occurrences != 1):
				t.Errorf("%s: %+v, %+v", day.Start, check, daily)
			}
		}
		// The slot of an occurrence that was told then has so many calls.
		r.RunAt(rig.At("13:00"), registry, worker.Options{})
		r.RunAt(rig.At("13:15"), registry, worker.Options{})
		told := partAt(t, report.Slots, rig.At("13:30"))
		if figures := r.RunAt(rig.At("13:30"), registry, worker.Options{}); int64(figures.Rows()) != told.Due+told.Occurrences {
			t.Errorf("%d rows were run; told were %+v", figures.Rows(), told)
		}
	})
}

// One forecast a minute is enough, whoever makes it, and who lost the duty writes nothing.
func TestOneProcessMakesTheForecast(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		if _, err := Read(t.Context(), r.As("operator", time.Time{}), "p_", r.Setting); !errors.Is(err, ErrNone) {
			t.Errorf("before the first: %v", err)
		}
		makes := func(clock string) bool {
			t.Helper()
			made, err := r.maker(rig.At(clock)).Make(t.Context())
			r.Must(err)
			return made
		}
		if !makes("13:00") || makes("13:00:30") || !makes("13:01") {
			t.Error("not one a minute")
		}
		m := r.maker(rig.At("13:05"))
		held, err := duty.Try(t.Context(), r.As("worker", rig.At("13:05")), &m.tables, duty.Forecast, "b", time.Minute)
		r.Must(err)
		if made, err := m.Make(t.Context()); made || err != nil {
			t.Errorf("another has the duty: %t, %v", made, err)
		}
		report, err := m.look(t.Context())
		r.Must(err)
		r.Exec("UPDATE p_duty SET token = token + 1")
		if err := m.write(t.Context(), held, report); !errors.Is(err, duty.ErrLost) {
			t.Errorf("written without the duty: %v", err)
		}
		if r.Count("SELECT COUNT(*) FROM p_forecast_made WHERE made_at = '2026-11-20 13:01:00'") != 1 || r.Count("SELECT COUNT(*) FROM p_forecast_fit WHERE made_at > '2026-11-20 13:01:00'") != 0 {
			t.Error("it was written")
		}
		// A clock that was set back does not keep the old one for ever.
		r.Exec("UPDATE p_duty SET allocated_until = NULL")
		if !makes("11:00") {
			t.Error("a forecast of the future stays")
		}
	})
}

// A worker goes on with the connections on which it looked.
func TestAForecastLeavesConnectionsAsTheyWere(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.ManyDue(rig.At("14:00"), "check", 0, 3*firstRows) // a sample of which is read
		m := r.maker(rig.At("13:00"))
		_, err := m.look(t.Context())
		r.Must(err)
		for range 5 { // they are kept, and given out again
			conn, err := m.db.Conn(t.Context())
			r.Must(err)
			defer conn.Close()
			var level string
			if err := conn.QueryRowContext(t.Context(), "SELECT @@transaction_isolation").Scan(&level); err != nil {
				r.Must(conn.QueryRowContext(t.Context(), "SELECT @@tx_isolation").Scan(&level))
			}
			if level != "READ-COMMITTED" {
				t.Errorf("a connection is %s", level)
			}
		}
	})
}

// Whatever apps have written, a forecast reads a bounded number of rows, and writes few.
func TestAForecastIsBoundedWhateverAppsWrite(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		insert := func(key, exec, due string) { r.pend(key, exec, due, "TRUE") }
		const numbers = tenThousand
		insert("many", "CONCAT('exec', n)", "'2026-11-20 13:15:00'")
		insert("late", "'check'", "'2026-11-20 12:00:00'")
		insert("far", "'far'", "'9999-12-01 12:00:00'")
		insert("days", "CONCAT('exec', n MOD 50)", "TIMESTAMP'2026-11-20 13:00:00' + INTERVAL n * 4 MINUTE")
		r.Exec("INSERT INTO p_exec_run (slot, bucket, job_exec, entity_name, calls, run_ms, run_buckets, lateness_buckets) SELECT '2026-11-20 12:45:00' - INTERVAL 15 * (n DIV 500) MINUTE, n MOD 500, 'check', 'order', 1, 100000, '{}', '{}' FROM " + numbers)
		r.Exec("INSERT INTO p_schedule (id, crontabs, job_exec, version) SELECT n, '@every 1s', 'check', 1 FROM " + numbers)
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) SELECT 'schedule', n, 'schedule.fire', '2026-11-20 13:15:00' FROM " + numbers)
		r.lives("a", 4, rig.At("13:00"))
		r.analyze()
		report := r.makeAt(rig.At("13:01"))
		lines := r.Count("SELECT COUNT(*) FROM p_forecast")
		t.Logf("%d rows read, %d lines written, in %d ms", report.Read, lines, report.TookMS)
		if report.Read > 36_000 || lines > (len(report.Slots)+len(report.Days))*(maxExecs+1) || len(report.Slots) > mostSlots+1+peaksOfDay*days {
			t.Errorf("%d rows read, %d lines, %d slots", report.Read, lines, len(report.Slots))
		}
		big := partAt(t, report.Slots, rig.At("13:15"))
		if big.How != Sampled || big.Low > 20_004 || big.High < 20_003 || big.High-big.Low > 10_000 {
			t.Errorf("%+v", big)
		}
		if now := partAt(t, report.Slots, rig.At("13:00")); now.How == Exact || now.Due < 100 {
			t.Errorf("what waits: %+v", now)
		}
		if report.Schedules != maxSchedules || report.SchedulesAll < 3_000 || report.SchedulesAll > 30_000 {
			t.Errorf("%d of %d schedules", report.Schedules, report.SchedulesAll)
		}
	})
}

// The busiest slot of a day that is far ahead is told of where it will not end in time.
func TestASlotThatWillNotEndIsFoundDaysAhead(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.ManyDue(rig.At("12:45"), "check", 0, 20)
		registry := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			time.Sleep(20 * time.Millisecond)
			return nil, nil
		}, prescient.Guards{})
		r.RunAt(rig.At("12:45"), registry, worker.Options{})
		r.Exec("UPDATE p_exec_run SET run_ms = 600000 * calls") // ten minutes each
		r.lives("a", 8, rig.At("12:59"))
		third := rig.At("09:00").Add(3 * 24 * time.Hour)
		jobs := make([]prescient.NewJob, 0, 400)
		for i := range 400 {
			due := third
			if i < 80 {
				due = rig.Day.Add(3*24*time.Hour + time.Duration(i)*15*time.Minute)
			}
			jobs = append(jobs, prescient.NewJob{Entity: rig.Order(fmt.Sprint("far", i)), JobExec: "check", DueAt: due})
		}
		_, err := r.Client.InsertMany(t.Context(), r.AppAt(rig.At("12:59")), jobs)
		r.Must(err)
		r.analyze()
		report := r.makeAt(rig.At("13:00"))
		peak := partAt(t, report.Slots, third)
		// 321 of ten minutes, four at a time: 13 hours.
		if peak.Verdict != Next || peak.How != Exact || peak.Due != 321 || peak.Over.Duration() < 6*time.Hour {
			t.Errorf("%+v", peak)
		}
		if worst, late := report.Worst(); !late || !worst.Start.Equal(third) {
			t.Errorf("%+v, %t", worst, late)
		}
		told, there, err := Slot(t.Context(), r.As("app", rig.At("13:00")), "p_", r.Setting, third)
		r.Must(err)
		if !there || told.Verdict != Next {
			t.Errorf("%t, %+v", there, told)
		}
		for clock, want := range map[string]bool{"13:10": true, "13:10:01": false, "15:00": false} {
			if _, there, err := Slot(t.Context(), r.As("app", rig.At(clock)), "p_", r.Setting, third); err != nil || there != want {
				t.Errorf("at %s: %t, %v; want %t", clock, there, err, want)
			}
		}
		if _, there, err = Slot(t.Context(), r.As("app", rig.At("13:00")), "p_", r.Setting, third.Add(-15*time.Minute)); err != nil || there {
			t.Errorf("a slot of which nothing is told: %t, %v", there, err)
		}
	})
}

// What apps and other programs have written by plain SQL stops no forecast.
func TestAForecastIsMadeWhateverNamesAppsWrite(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.Exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_identified") // a server that knows no CHECK
		for i, name := range []string{"a", "a ", "(other)"} {
			for n := range 30 {
				r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', ?, ?, '2026-11-20 13:15:00')", 100*i+n, name)
			}
		}
		lines := partAt(t, r.makeAt(rig.At("13:01")).Slots, rig.At("13:15")).execs()
		if lines["a"].Due != 30 || lines[tally.Other].Due != 60 || len(lines) != 2 {
			t.Errorf("%+v", lines)
		}
	})
}
