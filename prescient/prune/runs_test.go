package prune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/worker"
)

// An app's transaction that began before partitions were changed can still end checks.
func TestAnOlderSnapshotMayCancelAfterPartitionsWereChanged(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		r.keepPartitions(rig.Day.AddDate(0, 0, -50), Options{})
		for _, key := range []string{"42", "43"} {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: key}, JobExec: "check", DueAt: rig.At("14:00")})
		}
		tx, err := r.App.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		r.Must(err)
		defer tx.Rollback()
		var n int
		r.Must(tx.QueryRow("SELECT COUNT(*) FROM p_future_job").Scan(&n))
		if report := r.prune(rig.At("10:05"), Options{Keep: 30 * 24 * time.Hour}); len(report.Made) == 0 || len(report.Dropped) == 0 {
			t.Fatalf("%+v", report)
		}
		if n, err := r.Client.Cancel(t.Context(), tx, prescient.Entity{Name: "order", Key: "42"}); err != nil || n != 1 {
			t.Errorf("cancelled %d, %v", n, err)
		}
		if n, err := rig.Call(t.Context(), tx, "order", "43", nil); err != nil || n != 1 {
			t.Errorf("the procedure cancelled %d, %v", n, err)
		}
		r.Must(tx.Commit())
		if len(r.History()) != 2 {
			t.Errorf("%d in history", len(r.History()))
		}
	})
}

// Partitions come and go under slot runs, none of which fails or loses a row.
func TestPartitionsChangeUnderSlotRuns(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		const rows, weeks = 3000, 12
		r.keepPartitions(rig.Day.AddDate(0, 0, -7*weeks-100), Options{})
		var jobs []prescient.NewJob
		for i := range rows {
			jobs = append(jobs, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: rig.At("13:15")})
		}
		_, err := r.Client.InsertMany(t.Context(), r.AppAt(rig.At("13:00")), jobs)
		r.Must(err)
		var pools []*sqlx.DB
		for week := range weeks + 1 {
			pools = append(pools, r.Pool(rig.At("13:15").AddDate(0, 0, -7*(weeks-week))))
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		changed := make(chan error, 1)
		started := make(chan struct{})
		go func() {
			defer close(changed)
			for week := 0; week <= weeks && ctx.Err() == nil; week++ {
				if _, err := Run(context.WithoutCancel(ctx), pools[week], Options{Prefix: "p_", Keep: 30 * 24 * time.Hour}); err != nil {
					changed <- err
					return
				}
				if week == 0 {
					close(started)
				}
			}
		}()
		select {
		case <-started:
		case err := <-changed:
			t.Fatal(err)
		}
		execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		figures := r.RunAt(rig.At("13:15:01"), execs, worker.Options{Load: worker.Load{Batch: 20}})
		if err := <-changed; err != nil {
			t.Error(err)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_job_history"); figures.Done != rows || n != rows {
			t.Errorf("%+v, %d in history", figures, n)
		}
		t.Logf("%d retries", figures.Retries)
		r.Balanced()
	})
}

// An analyst's open transaction keeps partitions from being changed; that must not keep slot runs from running.
func TestSlotRunsGoOnWhilePruneWaitsForAnAnalyst(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.WaitingDDL)
		r.Needs(t, rig.Accounts)
		r.keepPartitions(rig.Day.AddDate(0, 0, -50), Options{})
		r.end(50, "50")
		r.Account("owner")
		for _, right := range []string{"PROCESS ON *.*", "SELECT ON performance_schema.*"} { // without these it cannot say who
			r.Exec("GRANT " + right + " TO '" + r.User("owner") + "'@'%'")
		}
		analyst, err := r.As("analyst", time.Time{}).BeginTx(t.Context(), nil)
		r.Must(err)
		defer analyst.Rollback()
		var n int
		r.Must(analyst.QueryRow("SELECT COUNT(*) FROM p_job_history").Scan(&n))
		var open int64
		r.Must(analyst.QueryRow("SELECT CONNECTION_ID()").Scan(&open))

		type result struct {
			report Report
			err    error
		}
		pruned := make(chan result, 1)
		// A try lasts until the next statement. Those that wait take a second, on MariaDB two or three; longer on a busy machine.
		h, try, began := &rig.Hooks{}, time.Second, time.Time{}
		if r.D.Flavour == localserver.MariaDB {
			try = 2 * time.Second
		}
		h.OnStatement(func(statement string) error {
			if !began.IsZero() {
				try, began = max(try, time.Since(began)), time.Time{}
			}
			if strings.HasPrefix(statement, "ALTER TABLE") {
				began = time.Now()
			}
			return nil
		})
		pool := r.HookedAs("owner", rig.At("10:05"), h)
		options := Options{Prefix: "p_", Keep: 30 * 24 * time.Hour, Patience: 10 * time.Second, TrustClock: true}
		go func() {
			report, err := Run(context.WithoutCancel(t.Context()), pool, options)
			pruned <- result{report, err}
		}()
		execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		var got result
		runs, longest := 0, time.Duration(0)
		for waiting := true; waiting; runs++ {
			order := prescient.Entity{Name: "order", Key: fmt.Sprint("run", runs)}
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: order, JobExec: "check", DueAt: rig.At("13:15")})
			begin := time.Now()
			if figures := r.RunAt(rig.At("13:15:01"), execs, worker.Options{}); figures.Done != 1 {
				t.Fatalf("%+v", figures)
			}
			longest = max(longest, time.Since(begin))
			select {
			case got = <-pruned:
				waiting = false
			default:
			}
		}
		t.Logf("%d slot runs while prune waited, the longest %s; the longest try %s", runs, longest, try)
		if runs < 5 || longest > try+2*time.Second { // the rest is for the slot run itself
			t.Errorf("%d slot runs while prune waited, the longest %s; one is held up by one try at most, of %s", runs, longest, try)
		}
		if !errors.Is(got.err, ErrHistoryHeld) || !slices.ContainsFunc(got.report.HeldBy, func(h Holder) bool { return h.ID == open }) ||
			!rig.Contains(got.err, fmt.Sprintf("connection %d of ", open)) {
			t.Errorf("%v, held by %v; want connection %d", got.err, got.report.HeldBy, open)
		}
		if len(got.report.Dropped) > 0 {
			t.Errorf("%+v", got.report)
		}
		r.Must(analyst.Commit())
		report := r.prune(rig.At("10:05"), Options{Keep: 30 * 24 * time.Hour, TrustClock: true})
		if len(report.Dropped) == 0 || report.HeldBy != nil {
			t.Errorf("%+v", report)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE entity_key = '50'"); n != 0 {
			t.Error("the old end is still there")
		}
	})
}

// Where the server has tries that do not wait, an analyst who looks into history for a while holds up nobody.
func TestPruneChangesPartitionsWithoutWaitingWhereItCan(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.keepPartitions(rig.Day.AddDate(0, 0, -50), Options{})
		analyst, err := r.As("analyst", time.Time{}).BeginTx(t.Context(), nil)
		r.Must(err)
		defer analyst.Rollback()
		var n int
		r.Must(analyst.QueryRow("SELECT COUNT(*) FROM p_job_history").Scan(&n))
		h, wait, tries := &rig.Hooks{}, "", []string(nil)
		changes := make(map[string]bool) // each may take several tries: a server's own threads have tables for a moment, too
		h.OnStatement(func(statement string) error {
			if _, seconds, ok := strings.Cut(statement, "lock_wait_timeout = "); ok {
				wait = seconds
			}
			if strings.Contains(statement, "query_timeout = ") { // of the whole try, on Vitess
				wait = "1"
			}
			if strings.HasPrefix(statement, "ALTER TABLE") {
				changes[statement] = true
				if tries = append(tries, wait); len(tries) == 2 { // the first met the analyst
					r.Must(analyst.Commit())
				}
			}
			return nil
		})
		report, err := Run(t.Context(), r.HookedAs("owner", rig.At("10:05"), h), Options{Prefix: "p_", Keep: 30 * 24 * time.Hour})
		r.Must(err)
		if len(report.Made) == 0 || len(report.Dropped) != len(changes)-1 || len(tries) <= len(changes) || report.HeldBy != nil {
			t.Errorf("%d changes by %d tries, and %+v", len(changes), len(tries), report)
		}
		quick := !slices.Contains(tries, "1")
		if quick != (r.D.Flavour == localserver.MariaDB) {
			t.Errorf("the tries waited %v seconds", tries)
		}
	})
}
