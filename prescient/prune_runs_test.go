package prescient

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

	"prescient/prescient/localserver"
)

// An app's transaction that began before partitions were changed can still end checks.
func TestAnOlderSnapshotMayCancelAfterPartitionsWereChanged(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, storedProcedures)
		r.keepPartitions(day.AddDate(0, 0, -50), PruneOptions{})
		for _, key := range []string{"42", "43"} {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", key}, JobExec: "check", DueAt: at("14:00")})
		}
		tx, err := r.app.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		r.must(err)
		defer tx.Rollback()
		var n int
		r.must(tx.QueryRow("SELECT COUNT(*) FROM p_future_job").Scan(&n))
		if report := r.prune(at("10:05"), PruneOptions{Keep: 30 * 24 * time.Hour}); len(report.Made) == 0 || len(report.Dropped) == 0 {
			t.Fatalf("%+v", report)
		}
		if n, err := r.client.Cancel(t.Context(), tx, Entity{"order", "42"}); err != nil || n != 1 {
			t.Errorf("cancelled %d, %v", n, err)
		}
		r.call(tx, 1, "order", "43", nil)
		r.must(tx.Commit())
		if len(r.history()) != 2 {
			t.Errorf("%d in history", len(r.history()))
		}
	})
}

// Partitions come and go under slot runs, none of which fails or loses a row.
func TestPartitionsChangeUnderSlotRuns(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const rows, weeks = 3000, 12
		r.keepPartitions(day.AddDate(0, 0, -7*weeks-100), PruneOptions{})
		var jobs []NewJob
		for i := range rows {
			jobs = append(jobs, NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "check", DueAt: at("13:15")})
		}
		_, err := r.client.InsertMany(t.Context(), r.appAt(at("13:00")), jobs)
		r.must(err)
		var pools []*sqlx.DB
		for week := range weeks + 1 {
			pools = append(pools, r.pool(at("13:15").AddDate(0, 0, -7*(weeks-week))))
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		changed := make(chan error, 1)
		started := make(chan struct{})
		go func() {
			defer close(changed)
			for week := 0; week <= weeks && ctx.Err() == nil; week++ {
				if _, err := Prune(context.WithoutCancel(ctx), pools[week], PruneOptions{Prefix: "p_", Keep: 30 * 24 * time.Hour}); err != nil {
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
		execs := registry("check", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		figures := r.runAt(at("13:15:01"), execs, WorkerOptions{Batch: 20})
		if err := <-changed; err != nil {
			t.Error(err)
		}
		if n := r.count("SELECT COUNT(*) FROM p_job_history"); figures.Done != rows || n != rows {
			t.Errorf("%+v, %d in history", figures, n)
		}
		t.Logf("%d retries", figures.Retries)
		r.balanced()
	})
}

// An analyst's open transaction keeps partitions from being changed; that must not keep slot runs from running.
func TestSlotRunsGoOnWhilePruneWaitsForAnAnalyst(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, waitingDDL)
		r.keepPartitions(day.AddDate(0, 0, -50), PruneOptions{})
		r.end(50, "50")
		r.account("owner")
		for _, right := range []string{"PROCESS ON *.*", "SELECT ON performance_schema.*"} { // without these it cannot say who
			r.exec("GRANT " + right + " TO '" + r.user("owner") + "'@'%'")
		}
		analyst, err := r.as("analyst", time.Time{}).BeginTx(t.Context(), nil)
		r.must(err)
		defer analyst.Rollback()
		var n int
		r.must(analyst.QueryRow("SELECT COUNT(*) FROM p_job_history").Scan(&n))
		var open int64
		r.must(analyst.QueryRow("SELECT CONNECTION_ID()").Scan(&open))

		type result struct {
			report PruneReport
			err    error
		}
		pruned := make(chan result, 1)
		// A try lasts until the next statement. Those that wait take a second, on MariaDB two or three; longer on a busy machine.
		h, try, began := &hooks{}, time.Second, time.Time{}
		if r.d.Flavour == localserver.MariaDB {
			try = 2 * time.Second
		}
		h.onStatement(func(statement string) error {
			if !began.IsZero() {
				try, began = max(try, time.Since(began)), time.Time{}
			}
			if strings.HasPrefix(statement, "ALTER TABLE") {
				began = time.Now()
			}
			return nil
		})
		pool := r.hookedAs("owner", at("10:05"), h)
		options := PruneOptions{Prefix: "p_", Keep: 30 * 24 * time.Hour, Patience: 10 * time.Second, TrustClock: true}
		go func() {
			report, err := Prune(context.WithoutCancel(t.Context()), pool, options)
			pruned <- result{report, err}
		}()
		execs := registry("check", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		var got result
		runs, longest := 0, time.Duration(0)
		for waiting := true; waiting; runs++ {
			order := Entity{"order", fmt.Sprint("run", runs)}
			r.insert(at("13:00"), NewJob{Entity: order, JobExec: "check", DueAt: at("13:15")})
			begin := time.Now()
			if figures := r.runAt(at("13:15:01"), execs, WorkerOptions{}); figures.Done != 1 {
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
			!contains(got.err, fmt.Sprintf("connection %d of ", open)) {
			t.Errorf("%v, held by %v; want connection %d", got.err, got.report.HeldBy, open)
		}
		if len(got.report.Dropped) > 0 {
			t.Errorf("%+v", got.report)
		}
		r.must(analyst.Commit())
		report := r.prune(at("10:05"), PruneOptions{Keep: 30 * 24 * time.Hour, TrustClock: true})
		if len(report.Dropped) == 0 || report.HeldBy != nil {
			t.Errorf("%+v", report)
		}
		if n := r.count("SELECT COUNT(*) FROM p_job_history WHERE entity_key = '50'"); n != 0 {
			t.Error("the old end is still there")
		}
	})
}

// Where the server has tries that do not wait, an analyst who looks into history for a while holds up nobody.
func TestPruneChangesPartitionsWithoutWaitingWhereItCan(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.keepPartitions(day.AddDate(0, 0, -50), PruneOptions{})
		analyst, err := r.as("analyst", time.Time{}).BeginTx(t.Context(), nil)
		r.must(err)
		defer analyst.Rollback()
		var n int
		r.must(analyst.QueryRow("SELECT COUNT(*) FROM p_job_history").Scan(&n))
		h, wait, tries := &hooks{}, "", []string(nil)
		h.onStatement(func(statement string) error {
			if _, seconds, ok := strings.Cut(statement, "lock_wait_timeout = "); ok {
				wait = seconds
			}
			if strings.HasPrefix(statement, "ALTER TABLE") {
				if tries = append(tries, wait); len(tries) == 2 { // the first met the analyst
					r.must(analyst.Commit())
				}
			}
			return nil
		})
		report, err := Prune(t.Context(), r.hookedAs("owner", at("10:05"), h), PruneOptions{Prefix: "p_", Keep: 30 * 24 * time.Hour})
		r.must(err)
		if changes := len(tries) - 1; len(report.Made) == 0 || len(report.Dropped) != changes-1 || report.HeldBy != nil {
			t.Errorf("%d changes, and %+v", changes, report)
		}
		quick := !slices.Contains(tries, "1")
		if quick != (r.d.Flavour == localserver.MariaDB) {
			t.Errorf("the tries waited %v seconds", tries)
		}
	})
}
