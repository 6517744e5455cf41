package attest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
	"prescient/prescient/prune"
	"prescient/prescient/reslot"
	"prescient/prescient/worker"
)

// attest runs as an operator at a time.
func (r *testRig) attest(clock string, options Options) Report {
	r.T.Helper()
	options.Prefix, options.Dialect = "p_", r.Setting
	report, err := Run(r.T.Context(), r.As("operator", rig.At(clock)), options)
	r.Must(err)
	return report
}

// made sets since when there are tables.
func (r *testRig) made(clock string) {
	r.T.Helper()
	at := rig.At(clock)
	r.Exec("UPDATE p_slot_config SET changed_at = ?", at)
	r.Exec("UPDATE p_audit_log SET at = ? WHERE verb = 'begin'", at)
}

// checks inserts a check for each time.
func (r *testRig) checks(due ...string) {
	r.T.Helper()
	for _, at := range due {
		r.Insert(rig.At("12:40"), prescient.NewJob{Entity: rig.Order(at), JobExec: "check", DueAt: rig.At(at)})
	}
}

func (r *testRig) worker(clock string) *worker.Worker {
	return r.Worker(rig.At(clock), rig.Registry("check", rig.NothingToDo, prescient.Guards{}), worker.Options{Name: "w"})
}

// run serves the slots that are now at some times.
func (r *testRig) run(clocks ...string) {
	r.T.Helper()
	for _, clock := range clocks {
		_, err := r.worker(clock).Run(r.T.Context())
		r.Must(err)
	}
}

// wantSpans compares the spans of a report, as people read them, without the date.
func wantSpans(t *testing.T, report Report, verdict Verdict, want ...string) {
	t.Helper()
	var got []string
	for _, s := range report.Spans {
		got = append(got, strings.ReplaceAll(s.String(), "2026-11-20 ", ""))
	}
	matches := len(got) == len(want)
	for i := range min(len(got), len(want)) {
		matches = matches && strings.HasPrefix(got[i], want[i])
	}
	if !matches || report.Verdict != verdict {
		t.Errorf("%s:\n%s\nwant %s:\n%s", report.Verdict, strings.Join(got, "\n"), verdict, strings.Join(want, "\n"))
	}
}

func TestANightIsAttestedSlotBySlot(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.made("12:30")
		r.checks("12:58", "13:10", "13:20", "13:40")
		span := Options{From: rig.At("13:00"), Before: rig.At("14:30")}
		wantSpans(t, r.attest("14:32", Options{From: rig.At("12:00"), Before: rig.At("12:30")}), NotProven, "12:00–12:15: 2 slots not known: before the tables were made")

		r.run("13:00:01")
		if swept, err := r.worker("13:16").Sweep(t.Context()); err != nil || len(swept) != 1 {
			t.Errorf("%+v, %v", swept, err)
		}
		r.run("13:30:02")
		r.Exec(`INSERT INTO p_slot_run (slot, bucket, buckets, worker, run_by, started_at, allocated_until)
			VALUES ('2026-11-20 14:00', 0, 2, 'dead', 'work', '2026-11-20 14:00:00.2', '2026-11-20 14:01:00')`)
		r.run("14:15:01") // empty
		report := r.attest("14:32", span)
		wantSpans(t, report, Refuted,
			"13:00: served by run (w), begun 1.0 s late, 1 ended",
			"13:15: served late by sweep (w), begun 1m0s late, finished 13:16, 1 ended",
			"13:30: served by run (w), begun 2.0 s late, 1 ended",
			"13:45: missed; checks wait",
			"14:00: served late by work (dead), begun 0.2 s late, 0 ended: 2 of 2 buckets open, the lease lapsed, and nothing waits for them",
			"14:15: served by run (w), begun 1.0 s late, 0 ended")
		if e := report.Ends; !e.Compared || !e.Whole || e.Of != 3 || e.Differ != 0 || report.Totals.Ended != 3 || report.Totals.Slots != 6 {
			t.Errorf("%+v, %+v", e, report.Totals)
		}
		wantSpans(t, r.attest("13:31", Options{From: rig.At("13:30"), Before: rig.At("13:31")}), Proven, "13:30: served by run")
		wantSpans(t, r.attest("14:40", Options{From: rig.At("14:30"), Before: rig.At("14:40")}), NotProven, "14:30: not over yet")
		wantSpans(t, r.attest("14:32", Options{From: rig.At("14:01"), Before: rig.At("14:02")}), NotProven) // without a slot

		// What is left of the missed slot is swept: it was late, and is no longer missed. The dead worker's slot holds nothing.
		r.Exec("UPDATE p_slot_run SET finished_at = '2026-11-20 14:00:09', allocated_until = NULL, buckets = 1 WHERE worker = 'dead'")
		_, err := r.worker("14:33").Sweep(t.Context())
		r.Must(err)
		report = r.attest("14:34", span)
		wantSpans(t, report, NotProven, "13:00: served", "13:15: served late", "13:30: served", "13:45: served late by sweep (w), begun 48m0s late",
			"14:00: served by work", "14:15: served by run")
	})
}

// A worker dies, and the app cancels what it left before a sweep comes: the sweep finds nothing there, and finishes nothing.
func TestASlotWhoseLastCheckWasCancelledBeforeASweepCameIsWhole(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.made("12:30")
		r.checks("12:58")
		r.Exec(`INSERT INTO p_slot_run (slot, bucket, buckets, worker, run_by, started_at, allocated_until)
			VALUES ('2026-11-20 13:00', 0, 1, 'dead', 'work', '2026-11-20 13:00:00.2', '2026-11-20 13:01:00')`)
		span := Options{From: rig.At("13:00"), Before: rig.At("13:14")}
		wantSpans(t, r.attest("13:20", span), NotProven, "13:00: unfinished by work (dead), begun 0.2 s late, 0 ended: 1 of 1 buckets open, the lease lapsed")
		r.Cancels(t, rig.Order("12:58"))
		swept, err := r.worker("13:21").Sweep(t.Context())
		if err != nil || len(swept) != 0 {
			t.Errorf("%+v, %v", swept, err)
		}
		report := r.attest("13:22", span)
		wantSpans(t, report, NotProven, "13:00: served late by work (dead), begun 0.2 s late, 0 ended: 1 of 1 buckets open, the lease lapsed, and nothing waits for them")
		if report.Totals.States[Unfinished] != 0 || !report.Ends.Whole || report.Ends.Differ != 0 {
			t.Errorf("%+v", report)
		}
	})
}

// What ran a bucket first stays in the ledger with the time at which it did, whoever finishes it.
func TestASlotThatWasFinishedLateIsLate(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.made("12:30")
		r.checks("12:58")
		r.Exec(`INSERT INTO p_slot_run (slot, bucket, buckets, worker, run_by, started_at, allocated_until)
			VALUES ('2026-11-20 13:00', 0, 1, 'dead', 'work', '2026-11-20 13:00:00.2', '2026-11-20 13:01:00')`)
		_, err := r.worker("14:10").Sweep(t.Context())
		r.Must(err)
		r.Exec(`INSERT INTO p_slot_run (slot, bucket, buckets, worker, run_by, started_at, finished_at) VALUES
			('2026-11-20 13:15', 0, 2, 'w', 'work', '2026-11-20 13:15:00.2', '2026-11-20 13:15:01'), ('2026-11-20 13:15', 1, 2, 'w', 'work', '2026-11-20 13:25', '2026-11-20 13:25:01'),
			('2026-11-20 13:30', 0, 2, 'w', 'work', '2026-11-20 13:30:00.2', '2026-11-20 13:30:01'), ('2026-11-20 13:30', 1, 2, 'w', 'sweep', '2026-11-20 13:30:50', '2026-11-20 13:30:51')`)
		wantSpans(t, r.attest("14:11", Options{From: rig.At("13:00"), Before: rig.At("13:45")}), NotProven,
			"13:00–13:15: 2 slots served late by work (w), begun at most 10m0s late, finished 14:10, 1 ended",
			"13:30: served late by work and sweep (w), begun 50.0 s late, finished 13:30:51, 0 ended")
	})
}

// Whoever writes an end into history, or takes one out, leaves the ledger as it was.
func TestAnEndThatOnlyHistoryOrOnlyTheLedgerHasShows(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.made("12:30")
		r.checks("12:58", "12:59", "13:10", "13:20")
		r.run("13:00:01", "13:15:01", "13:30:01")
		span := Options{From: rig.At("13:00"), Before: rig.At("13:45")}
		wantSpans(t, r.attest("13:46", span), Proven, "13:00–13:30: 3 slots served by run (w), begun at most 1.0 s late, 4 ended")

		forge := func(slot, ended, outcome string) {
			r.Exec(fmt.Sprintf(`INSERT INTO p_job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, check_count, error_count,
				put_off_count, total_ms, revision, inserted_at, slot, outcome, ended_at, run_ms, worker)
				SELECT entity_name, 'forged', job_exec, tag, due_at, UNHEX(REPEAT('ab', 16)), first_check_at, next_check_at, check_count, error_count, put_off_count, total_ms,
				revision, inserted_at, '2026-11-20 %s', '%s', '2026-11-20 %s', run_ms, worker FROM p_job_history LIMIT 1`, slot, outcome, ended))
		}
		forge("13:15", "13:44", "cancelled") // the app's own
		if report := r.attest("13:46", span); report.Verdict != Proven {
			t.Errorf("%+v", report.Ends)
		}
		r.Exec("DELETE FROM p_job_history WHERE entity_key = 'forged'")
		forge("13:15", "13:45:30", "done") // after the span
		r.Exec("DELETE FROM p_job_history WHERE entity_key = '12:59'")
		report := r.attest("13:46", span)
		if report.Verdict != Refuted || fmt.Sprint(report.Ends.Differences) != "[2026-11-20 13:00: the ledger has 2 ends, history 1 2026-11-20 13:15: the ledger has 1 ends, history 2]" {
			t.Errorf("%s: %v", report.Verdict, report.Ends)
		}
		span.Ends = -1
		if report := r.attest("13:46", span); report.Verdict != Proven || report.Ends.Compared || report.Ends.Read != 0 || !strings.HasSuffix(report.CannotSee[3], "it was not read") {
			t.Errorf("history was not to be read: %s, %+v", report.Verdict, report.Ends)
		}
		span.Ends = 2
		if report := r.attest("13:46", span); report.Verdict != NotProven || report.Ends.Whole || report.Ends.Read != 2 || !strings.Contains(report.RestsOn[3], "in part: 2 ends were read, as many as may be; the last is of 2026-11-20 13:15:01") {
			t.Errorf("history was to be read in part: %s, %+v", report.Verdict, report.Ends)
		}
	})
}

// What was not read may have an end of these slots once more, even where all that was read is even.
func TestHistoryThatWasReadInPartProvesNothing(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.made("12:30")
		r.checks("12:58", "13:20", "13:25", "13:29")
		r.run("13:00:01", "13:15:01", "13:30:01")
		span := Options{From: rig.At("13:00"), Before: rig.At("13:16"), Ends: 5}
		if report := r.attest("13:46", span); report.Verdict != Proven || !report.Ends.Whole || len(report.CannotSee) != 4 || !strings.Contains(report.CannotSee[3], "stands twice") {
			t.Errorf("%s: %+v, %q", report.Verdict, report.Ends, report.CannotSee)
		}
		span.Ends = 2
		if report := r.attest("13:46", span); report.Verdict != NotProven || report.Ends.Whole || report.Ends.Read != 2 {
			t.Errorf("in part: %s: %+v", report.Verdict, report.Ends)
		}
	})
}

// Whoever may write entries can keep a span from being proven, and nothing else: no miss is excused.
func TestEntriesThatCannotBeReadExcuseNothing(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.made("12:30")
		r.run("13:00:01", "13:15:01", "13:45:01")
		served, missed := Options{From: rig.At("13:00"), Before: rig.At("13:30")}, Options{From: rig.At("13:00"), Before: rig.At("14:00")}
		forge := func(clock, verb string, after any) {
			r.Must(audit.On(r.Tables()).Record(t.Context(), r.Pool(rig.At(clock)), audit.Entry{Kind: audit.Installation, ID: audit.InstallationID, Verb: verb, After: after}))
		}
		forge("13:50", "begin", nil)
		wantSpans(t, r.attest("14:10", served), Proven, "13:00–13:15: 2 slots served")
		wantSpans(t, r.attest("14:10", missed), Refuted, "13:00–13:15: 2 slots served", "13:30: missed", "13:45: served")
		for _, after := range []any{nil, "text"} {
			for _, verb := range []string{"prune", "reslot", "reslot-withdrawn"} {
				forge("13:51", verb, after)
			}
		}
		wantSpans(t, r.attest("14:10", missed), Refuted, "13:00–13:15: 2 slots served", "13:30: missed", "13:45: served")
		report := r.attest("14:10", served)
		wantSpans(t, report, NotProven, "13:00–13:15: 2 slots served")
		if report.Unread != 6 || !strings.Contains(report.RestsOn[1], "6 of its entries cannot be read") {
			t.Errorf("%d, %q", report.Unread, report.RestsOn)
		}
	})
}

// Bulk operations leave many entries. Those that explain no slot are passed over; of those that do, the latest are read.
func TestManyEntriesOfTheAuditAreNoErrorAndExcuseNothing(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.made("12:30")
		r.run("13:00:01", "13:15:01")
		r.Exec("CREATE TABLE digits (d INT PRIMARY KEY)")
		r.Exec("INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
		many := func(clock string, kind audit.Kind, id, verb string, n int) {
			r.Exec(fmt.Sprintf(`INSERT INTO p_audit_log (at, account, entry, stream, kind, id, verb)
				SELECT '2026-11-20 %s' + INTERVAL n MICROSECOND, 'app@h', UNHEX(LPAD(HEX(n), 16, '0')), SUBSTRING(UNHEX(SHA2(CONCAT('%[2]s', UNHEX('00'), '%[3]s'), 256)), 1, 16), '%[2]s', '%[3]s', %[4]s
				FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n FROM digits a, digits b, digits c, digits e, digits f) numbers WHERE n < %[5]d`, clock, kind, id, verb, n))
		}
		span := Options{From: rig.At("13:00"), Before: rig.At("13:30")}
		many("12:31", audit.Installation, audit.InstallationID, "'roll-forward'", 51_000)
		wantSpans(t, r.attest("13:31", span), Proven, "13:00–13:15: 2 slots served")
		many("13:10", audit.JobExec, prescient.AllExecs, "IF(n % 2, 'resume', 'pause')", mostTold+2)
		wantSpans(t, r.attest("13:31", span), NotProven, "13:00: not known: of the audit only the latest 10,000 changes are read", "13:15: served by run")
	})
}

func TestWhatWasPrunedIsNotKnown(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.made("12:30")
		r.run("13:00:01", "13:15:01")
		next := rig.At("13:07").Add(24 * time.Hour)
		_, err := prune.Run(t.Context(), r.Pool(next), prune.Options{Prefix: "p_", Keep: 24 * time.Hour})
		r.Must(err)
		if ledger := r.Count("SELECT COUNT(*) FROM p_slot_run"); ledger != 1 {
			t.Errorf("%d rows of the ledger; want that of 13:15", ledger)
		}
		report, err := Run(t.Context(), r.As("operator", next), Options{Prefix: "p_", Dialect: r.Setting, From: rig.At("13:00"), Before: rig.At("13:30")})
		r.Must(err)
		wantSpans(t, report, NotProven, "13:00: not known: the ledger was pruned", "13:15: served by run")
	})
}

func TestSlotsThatAPauseLeftWerePaused(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.made("12:30")
		entry := func(clock, verb string) {
			r.Must(audit.On(r.Tables()).Record(t.Context(), r.Pool(rig.At(clock)), audit.Entry{Kind: audit.JobExec, ID: prescient.AllExecs, Verb: verb}))
		}
		entry("12:50", audit.Pause)
		entry("13:20", audit.Resume)
		r.run("13:30:01")
		r.Exec("INSERT INTO p_job_pause (job_exec, since) VALUES ('*', '2026-11-20 13:50')") // by plain SQL
		wantSpans(t, r.attest("14:20", Options{From: rig.At("13:00"), Before: rig.At("14:15")}), Refuted,
			"13:00–13:15: 2 slots not served, as everything was paused", "13:30: served by run", "13:45: missed", "14:00: not served, as everything was paused")
	})
}

func TestSlotsBeforeAReslotAreThoseOfTheirTime(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ChangeOfResolution)
		r.made("12:30")
		r.run("13:00:01", "13:15:01")
		change := func(clock string, to time.Duration) {
			_, err := reslot.Run(t.Context(), r.Pool(rig.At(clock)), reslot.Options{Prefix: "p_", Resolution: to})
			r.Must(err)
		}
		change("13:20", 5*time.Minute)
		r.run("13:35:01") // 13:25 and 13:30 fell into the change, for all that is known
		r.run("13:45:01") // 13:40 was missed
		change("13:50", 30*time.Minute)
		r.Exec("UPDATE p_slot_config SET changed_at = '2026-11-20 14:10'") // it took so long
		r.run("14:30:01")
		report := r.attest("15:00:30", Options{From: rig.At("13:00"), Before: rig.At("15:00")})
		wantSpans(t, report, Refuted, "13:00–13:15: 2 slots served by run", "13:20–13:30: 3 slots not served, as the resolution was being changed",
			"13:35: served by run", "13:40: missed", "13:45: served by run", "14:00: not served, as the resolution was being changed", "14:30: served by run")
		if len(report.Resolutions) != 3 || report.Resolutions[0].Resolution != "15m0s" || report.Resolutions[1].Resolution != "5m0s" || report.Resolutions[2].Resolution != "30m0s" {
			t.Errorf("%+v", report.Resolutions)
		}
	})
}

func TestASpanThatIsNoneIsRefusedByItsField(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		for _, test := range []struct{ from, to, field string }{
			{"13:00", "15:00", "before"}, {"14:00", "14:00", "from"}, {"14:00", "13:00", "from"},
		} {
			_, err := Run(t.Context(), r.As("operator", rig.At("14:30")), Options{Prefix: "p_", Dialect: r.Setting, From: rig.At(test.from), Before: rig.At(test.to)})
			var field *prescient.FieldError
			if !errors.Is(err, prescient.ErrInvalid) || !errors.As(err, &field) || field.Field != test.field {
				t.Errorf("%v: %v", test, err)
			}
		}
		_, err := Run(t.Context(), r.As("operator", rig.At("14:30")), Options{Prefix: "p_", Dialect: r.Setting, From: rig.At("14:00").Add(-MaxSpan - time.Hour), Before: rig.At("14:00")})
		if !rig.Contains(err, "366 days") {
			t.Error(err)
		}
		_, err = Run(t.Context(), r.As("operator", rig.At("14:30")), Options{Prefix: "p_", Dialect: r.Setting, Late: -1})
		rig.WantErr(t, "a negative lateness", err, prescient.ErrInvalid)
	})
}

// A long run ends whenever it does, and its end is booked where it started.
func TestEndsOfLongRunsAreThoseOfTheSlotInWhichTheyStarted(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.made("12:30")
		r.Insert(rig.At("12:40"), prescient.NewJob{Entity: rig.Order("1"), JobExec: "export", DueAt: rig.At("12:58")})
		registry := prescient.NewRegistry()
		runner, err := longrun.New(t.Context(), r.As("worker", rig.At("13:20")), longrun.Options{Prefix: "p_", Dialect: r.Setting, Name: "w"})
		r.Must(err)
		r.Must(runner.Register(registry, "export", func(context.Context, *longrun.Run) (*time.Time, error) { return nil, nil }, prescient.Guards{}))
		r.RunAt(rig.At("13:00:01"), registry, worker.Options{Name: "w"})
		r.Eventually("the long run ends", func() bool { return r.Count("SELECT COUNT(*) FROM p_job_history") == 1 })
		runner.Drain(t.Context())
		if ended := r.Count("SELECT COUNT(*) FROM p_job_history WHERE slot = '2026-11-20 13:00' AND ended_at > '2026-11-20 13:19'"); ended != 1 {
			t.Error("it did not end after its slot")
		}
		report := r.attest("13:21", Options{From: rig.At("13:00"), Before: rig.At("13:14")})
		wantSpans(t, report, Proven, "13:00: served by run (w), begun 1.0 s late, 1 ended")
		if report.Ends.Of != 1 {
			t.Errorf("%+v", report.Ends)
		}
	})
}
