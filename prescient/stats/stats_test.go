package stats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func eachServer(t *testing.T, test func(t *testing.T, r *whole.Rig)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, whole.New(t, d, 15*time.Minute)) })
}

// eachFlavour is eachServer on one server of each flavour, for what only reads: its plans are looked at on all.
func eachFlavour(t *testing.T, test func(t *testing.T, r *whole.Rig)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) { test(t, whole.New(t, d, 15*time.Minute)) })
}

// execs are those of a report by name.
func execs(r Report) map[string]Exec {
	all := make(map[string]Exec)
	for _, e := range r.Execs {
		all[e.JobExec] = e
	}
	return all
}

func TestWhatBecameOfChecksIsToldByJobExec(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		registry := rig.Registry("good", rig.NothingToDo, prescient.Guards{})
		r.Must(registry.Register("bad", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			if job.EntityKey >= "8" {
				return nil, fmt.Errorf("nothing at all: %s", "it is empty")
			}
			return nil, fmt.Errorf("order %s has no row in %q", job.EntityKey, job.EntityKey)
		}, prescient.Guards{MaxErrors: 1}))
		r.Must(registry.Register("slow", func(ctx context.Context, _ prescient.FutureJob) (*time.Time, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, prescient.Guards{Timeout: 50 * time.Millisecond, MaxErrors: prescient.None}))
		r.ManyDue(rig.At("13:00"), "good", 100, 120)
		r.ManyDue(rig.At("13:15"), "good", 200, 220)
		r.ManyDue(rig.At("13:15"), "bad", 0, 9)
		r.ManyDue(rig.At("13:15"), "slow", 300, 302)
		r.ManyDue(rig.At("13:15"), "misspelt", 400, 403)
		for _, at := range []string{"13:00", "13:15", "13:30"} {
			r.RunAt(rig.At(at), registry, worker.Options{Load: worker.Load{Buckets: 2}})
		}
		r.Balanced()
		report, err := Execs(t.Context(), r.As("analyst", time.Time{}), "p_", r.Setting, rig.At("13:00"), rig.At("14:00"))
		r.Must(err)
		of := execs(report)
		if good := of["good"]; good.Calls != 40 || good.Errors != 0 || good.Ends[prescient.Done] != 40 || good.FailsSince != nil || len(good.Reasons) != 0 || good.Lateness.LongestMS > 60_000 {
			t.Errorf("%+v", good)
		}
		bad := of["bad"]
		if bad.Calls != 18 || bad.Errors != 18 || bad.Moved != 9 || bad.Ends[prescient.Failed] != 9 || bad.Share() != 1 || bad.FailsSince == nil || !bad.FailsSince.Equal(rig.At("13:15")) {
			t.Errorf("%+v", bad)
		}
		if bad.Reasons[0].Text != "order … has no row in …" || bad.Reasons[0].Checks < 7 || !strings.Contains(bad.Reasons[0].Example.Error, bad.Reasons[0].Example.EntityKey) {
			t.Errorf("%+v", bad.Reasons)
		}
		if slow := of["slow"]; slow.Timeouts != 2 || slow.Ends[prescient.TimedOut] != 2 || slow.Run.P50MS < 50 {
			t.Errorf("%+v", slow)
		}
		if misspelt := of["misspelt"]; misspelt.Calls != 0 || misspelt.PutOff.Unregistered < 3 || misspelt.PutOff.Sum() != misspelt.PutOff.Unregistered || len(misspelt.Reasons) != 1 {
			t.Errorf("%+v", misspelt)
		}
		if report.Execs[0].JobExec != "bad" || report.Cut {
			t.Errorf("%+v", report)
		}
		_, err = Execs(t.Context(), r.As("analyst", time.Time{}), "p_", r.Setting, rig.At("14:00"), rig.At("14:00"))
		if !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("an empty span: %v", err)
		}
	})
}

// Whoever goes on with a bucket in which another has committed adds to its books.
func TestBooksGoOnWhereAnotherLeftThem(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		r.ManyDue(rig.At("13:15"), "check", 0, 40)
		ctx, stop := context.WithCancel(t.Context())
		calls := 0
		first := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			if calls++; calls == 15 {
				stop()
			}
			return nil, fmt.Errorf("number %d", calls)
		}, prescient.Guards{MaxErrors: prescient.None, Concurrency: 1})
		w := r.Worker(rig.At("13:15"), first, worker.Options{Load: worker.Load{Buckets: 1, Batch: 4, Concurrency: 1}})
		if _, err := w.Run(ctx); len(r.Pending()) < 20 {
			t.Fatalf("%v; %d are left for another", err, len(r.Pending()))
		}
		r.RunAt(rig.At("13:15"), rig.Registry("check", rig.NothingToDo, prescient.Guards{}), worker.Options{Load: worker.Load{Buckets: 1}})
		r.Balanced()
		report, err := Execs(t.Context(), r.As("operator", time.Time{}), "p_", r.Setting, rig.At("13:00"), rig.At("14:00"))
		r.Must(err)
		e := execs(report)["check"]
		if e.Calls != 40 || e.Errors < 15 || e.Ends[prescient.Failed] != e.Errors || e.Ends[prescient.Done] != 40-e.Errors || e.Reasons[0].Checks != e.Errors || e.Reasons[0].Text != "number …" {
			t.Errorf("%+v", e)
		}
	})
}

// Whatever an app's keys and errors are made of, they go into the books and come out as they were.
func TestKeysAndErrorsOfAnyTextAreBooked(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		registry := prescient.NewRegistry()
		texts := append(rig.Nasty(), strings.Repeat("é😀", 600), "\xff\x00", "'; DROP TABLE x; --", `{"a":"\u0000"}`)
		for i, text := range texts {
			name := fmt.Sprint("exec", i)
			r.Must(registry.Register(name, func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, errors.New(text) }, prescient.Guards{MaxErrors: prescient.None}))
			key := text
			if rig.Order(key).Validate() != nil {
				key = "k"
			}
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: rig.Order(key), JobExec: name, DueAt: rig.At("13:10")})
		}
		r.RunAt(rig.At("13:15"), registry, worker.Options{})
		r.Balanced()
		report, err := Execs(t.Context(), r.As("operator", time.Time{}), "p_", r.Setting, rig.At("13:00"), rig.At("14:00"))
		r.Must(err)
		of := execs(report)
		for _, end := range r.History() {
			e := of[end.JobExec]
			if e.Ends[prescient.Failed] != 1 || len(e.Reasons) != 1 || e.Reasons[0].Example.EntityKey != end.EntityKey || e.Reasons[0].Example.Error != end.Error {
				t.Errorf("%q ended with %q; booked: %+v", end.EntityKey, end.Error, e)
			}
		}
	})
}

// However much there is, a bounded part of it is read, whole slots from the latest on, by the primary key.
func TestTheLatestBooksAreRead(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		const n = "(SELECT 0 n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
		r.Exec("INSERT INTO p_exec_run (slot, bucket, job_exec, entity_name, calls, errors, run_buckets, lateness_buckets) SELECT '2026-11-20 13:00:00' - INTERVAL a.n MINUTE, b.n, CONCAT('e', c.n), 'k', 1, a.n < 3, '{\"1\":1}', '{}' FROM " +
			n + " a, " + n + " b, " + n + " c")
		for what, stretches := range map[string]*store.Stretches{"at once": upToLines(450), "a slot at first": store.NewStretches(100, 450, 0, time.Time{}), "less than a slot at first": store.NewStretches(30, 450, 0, time.Time{})} {
			report, err := latest(t.Context(), r.As("operator", time.Time{}), r.Tables(), rig.At("00:00"), rig.At("14:00"), stretches)
			r.Must(err)
			if !report.Cut || report.From.Before(rig.At("12:57")) || report.From.After(rig.At("12:58")) || len(report.Execs) != 10 {
				t.Errorf("%s: %+v", what, report)
			}
			for _, e := range report.Execs {
				if e.Calls != 10*uint64(rig.At("13:01").Sub(report.From)/time.Minute) || e.Errors != 30 || !e.FailsSince.Equal(rig.At("12:58")) {
					t.Errorf("%s: %+v", what, e)
				}
			}
		}
		// After the first stretch the time is over, though there is more.
		report, err := latest(t.Context(), r.As("operator", time.Time{}), r.Tables(), rig.At("00:00"), rig.At("14:00"), store.NewStretches(250, MaxLines, time.Nanosecond, time.Time{}))
		r.Must(err)
		if !report.Cut || !report.From.Equal(rig.At("12:59")) {
			t.Errorf("%+v", report)
		}
		// One slot has more than is read.
		report, err = latest(t.Context(), r.As("operator", time.Time{}), r.Tables(), rig.At("00:00"), rig.At("14:00"), upToLines(50))
		r.Must(err)
		if !report.Cut || !report.From.Equal(rig.At("13:00")) || report.Execs[0].Calls != 5 {
			t.Errorf("%+v", report)
		}
		all, err := latest(t.Context(), r.As("operator", time.Time{}), r.Tables(), rig.At("00:00"), rig.At("14:00"), upToLines(1000))
		r.Must(err)
		if all.Cut || !all.From.Equal(rig.At("00:00")) || all.Execs[0].Calls != 100 {
			t.Errorf("%+v", all)
		}
	})
}

// An answer of Vitess has 10,000 rows at most, and no statement without a LIMIT changes more.
func TestMoreIsReadThanAnAnswerOfVitessHas(t *testing.T) {
	const lines = 15_000
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		numbers := rig.Numbers(lines) + " numbers"
		r.Exec("INSERT INTO p_exec_run (slot, bucket, job_exec, entity_name, calls, errors, run_buckets, lateness_buckets) SELECT '2026-11-20 13:00:00' - INTERVAL n DIV 1000 MINUTE, n % 10, CONCAT('e', n DIV 10 % 100), 'k', 1, 0, '{\"1\":1}', '{}' FROM " + numbers)
		r.Exec("INSERT INTO p_stats_bucket (grain, start, job_exec, entity_name, measure, bucket, n) SELECT 'day', '2026-11-19', CONCAT('e', n DIV 1000), 'k', 'run', n % 1000, 1 FROM " + numbers)
		r.Exec("INSERT INTO p_stats (grain, start, job_exec, entity_name, outcome, ends, calls, errors, not_yet, waited, started, run_ms, total_ms, lateness_ms, due_lateness_ms) SELECT 'day', '2026-11-19', CONCAT('e', n DIV 1000), CONCAT('k', n % 1000), 'done', 1, 1, 0, 0, 0, 1, 0, 0, 0, 0 FROM " + numbers)
		db, tables := r.As("operator", rig.At("13:01")), r.Tables()
		report, err := Execs(t.Context(), db, "p_", r.Setting, rig.At("12:00"), rig.At("14:00"))
		r.Must(err)
		lately, err := Lately(t.Context(), db, tables, rig.At("13:01"))
		r.Must(err)
		for _, report := range []Report{report, lately} {
			if calls := report.Execs[0].Calls; report.Cut || len(report.Execs) != 100 || calls != lines/100 {
				t.Errorf("%d job_execs, the first with %d calls, cut %v", len(report.Execs), calls, report.Cut)
			}
		}
		days, err := Days(t.Context(), db, tables, rig.At("00:00").Add(-24*time.Hour), rig.At("00:00"), "")
		r.Must(err)
		if len(days.Days) != lines/1000 || days.Days[0].Calls != 1000 || days.Days[0].Run.LongestMS != days.Days[14].Run.LongestMS || days.Cut {
			t.Errorf("%+v", days)
		}
		runs, cut, err := runDays(t.Context(), db, tables, "stats/run_days", rig.At("00:00"), maxRunDays)
		r.Must(err)
		if cut || len(runs) != lines/1000 || len(runs[ran{jobExec: "e0"}][rig.At("00:00").Add(-24*time.Hour)]) != 1000 {
			t.Errorf("%d job_execs, cut %v", len(runs), cut)
		}
		times, err := Percentiles(t.Context(), db, "p_", r.Setting, rig.At("00:00").Add(-24*time.Hour), rig.At("00:00"))
		r.Must(err)
		if len(times) != lines/1000 || times[0].Ends != 1000 {
			t.Errorf("%+v", times)
		}
		deleted, err := store.Affected(t.Context(), r.As("worker", time.Time{}), tables.Stmt.Get("rollup/clear_buckets"), "day", "2026-11-19")
		if deleted != lines || err != nil {
			t.Errorf("%d sums of a day were deleted: %v", deleted, err)
		}
	})
}

func TestNoStatementScansOrSorts(t *testing.T) {
	eachServer(t, func(t *testing.T, r *whole.Rig) {
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		conn, err := r.As("operator", time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		rig.CheckPlans(t, conn, []rig.Explained{
			{Statement: "stats/execs", Query: f.Tables.Stmt.Get("stats/execs"), Args: []any{rig.At("01:00"), rig.At("06:00"), MaxLines},
				Reached: map[string]string{"p_exec_run": rig.BySlot}},
			{Statement: "stats/run_days", Query: f.Tables.Stmt.Get("stats/run_days"), Args: []any{rig.At("01:00"), rig.At("06:00"), maxRunDays},
				Reached: map[string]string{"p_stats_bucket": "PRIMARY 6"}},
			{Statement: "stats/step_days", Query: f.Tables.Stmt.Get("stats/step_days"), Args: []any{rig.At("01:00"), rig.At("06:00"), maxStepRuns},
				Reached: map[string]string{"p_step_run_log": "started_at 8"}},
			{Statement: "stats/days", Query: f.Tables.Fill("stats/days", "{days}", "'2026-11-19 00:00:00', '2026-11-20 00:00:00'", "{but}", "AND job_exec = 'check' "), Args: []any{maxDayLines},
				Reached: map[string]string{"p_stats": "PRIMARY 72"}},
			{Statement: "stats/day_buckets", Query: f.Tables.Fill("stats/day_buckets", "{days}", "'2026-11-19 00:00:00', '2026-11-20 00:00:00'", "{but}", "AND job_exec = 'check' "), Args: []any{maxDayLines},
				Reached: map[string]string{"p_stats_bucket": "PRIMARY 72"}},
		}, f.Tables.Stmt, []string{"stats"}, "stats/spread", "stats/last_day") // which groups a range; the optimizer itself reads one entry
	})
}
