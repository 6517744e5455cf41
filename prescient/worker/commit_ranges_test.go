package worker

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/bucket"
	"prescient/prescient/worker/internal/check"
	text "prescient/sql"
)

// insertOrders makes n checks pending for 13:15.
func (r *testRig) insertOrders(n int) {
	r.T.Helper()
	jobs := make([]prescient.NewJob, n)
	for i := range jobs {
		jobs[i] = prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: rig.At("13:15")}
	}
	_, err := r.Client.InsertMany(r.T.Context(), r.AppAt(rig.At("13:00")), jobs)
	r.Must(err)
}

// eachPass runs a test with workers that may read history, too: on MariaDB their commits take one pass. On others it makes
// no difference.
func eachPass(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Run("two passes", func(t *testing.T) { eachServer(t, test) })
	t.Run("one pass", func(t *testing.T) {
		eachServer(t, func(t *testing.T, r *testRig) {
			r.Also("worker", "SELECT", "p_job_history")
			test(t, r)
		})
	})
}

const lateInsert = `INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', ?, 'check', '2026-11-20 13:15:00')`

// Rows come into the range of a commit, from one statement to the next: none of them is deleted, or written to history,
// without a run.
func TestARowThatComesBetweenTheRowsOfACommitAtAnyStepIsNotLost(t *testing.T) {
	t.Parallel()
	eachPass(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		for _, step := range []string{"batch_seq = batch_seq + 1", "FOR UPDATE", "INTO p_job_history", "job.job_key < X'", "job.job_key IN", "COMMIT"} {
			for _, some := range []int{1, 40} {
				r.insertOrders(200)
				var h rig.Hooks
				came := false
				h.Once(step, func() {
					came = true
					for i := range some {
						_, err := r.App.Exec(lateInsert, fmt.Sprint("late ", i))
						r.Must(err)
					}
				})
				var calls atomic.Int32
				execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
					calls.Add(1)
					return nil, nil
				}, prescient.Guards{})
				figures, err := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{}).Run(t.Context())
				r.Must(err)
				ended := len(r.History())
				if !came || figures.Done != ended || ended+len(r.Pending()) != 200+some || int(calls.Load()) != ended {
					t.Fatalf("%d at %s: came: %v; figures %+v, %d calls, %d ends, %d pending; want each row called as often as it ended",
						some, step, came, figures, calls.Load(), ended, len(r.Pending()))
				}
				r.Balanced()
				r.Clear()
				r.Exec("DELETE FROM p_slot_run")
			}
		}
	})
}

// A cancelled row and one that comes instead leave the number of rows as it was.
func TestARowInPlaceOfACancelledOneIsNotTakenForIt(t *testing.T) {
	t.Parallel()
	eachPass(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.insertOrders(100)
		var h rig.Hooks
		h.Once("batch_seq = batch_seq + 1", func() {
			r.Cancels(t, prescient.Entity{Name: "order", Key: "7"})
			_, err := r.App.Exec(lateInsert, "instead")
			r.Must(err)
			r.Cancels(t, prescient.Entity{Name: "order", Key: "8"})
			_, err = r.App.Exec(lateInsert, "8")
			r.Must(err)
		})
		figures, err := r.hookedWorker(rig.At("13:15:01"), &h, rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{}).Run(t.Context())
		r.Must(err)
		left := r.Pending()
		slices.SortFunc(left, func(a, b prescient.FutureJob) int { return strings.Compare(a.EntityKey, b.EntityKey) })
		if figures.Done != 98 || figures.Dropped != 2 || len(left) != 2 || left[0].EntityKey != "8" || left[1].EntityKey != "instead" {
			t.Errorf("figures %+v, pending %+v; want 98 done, 2 dropped, and the two that came left", figures, left)
		}
		r.Balanced()
	})
}

// A commit by ranges does not wait for somebody who inserts between its rows and has not committed.
func TestAnOpenInsertBetweenTheRowsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	eachPass(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.insertOrders(200)
		tx, err := r.App.Begin()
		r.Must(err)
		defer func() { _ = tx.Rollback() }()
		for i := range 20 {
			_, err := tx.Exec(lateInsert, fmt.Sprint("open ", i))
			r.Must(err)
		}
		execs := prescient.NewRegistry() // whose answers come all at once, and are one commit
		r.Must(execs.RegisterBatch("check", func(_ context.Context, batch *prescient.Batch) error {
			for i := range batch.Jobs() {
				batch.Settle(i)
			}
			return nil
		}, prescient.Guards{}))
		var h rig.Hooks
		figures, err := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{}).Run(t.Context())
		r.Must(err)
		if figures.Done != 200 || h.Count("NOWAIT") != 1 || figures.Retries != 1 {
			t.Errorf("%+v, %d tries by ranges; want 200 done by their keys at the second try", figures, h.Count("NOWAIT"))
		}
		r.Must(tx.Commit())
		if left := r.Pending(); len(left) != 20 {
			t.Errorf("%d pending; want the 20 that were inserted", len(left))
		}
		r.Balanced()
	})
}

// The rows before the first and after the last of a commit are somebody else's.
func TestACommitByRangesDoesNotTouchItsNeighbours(t *testing.T) {
	t.Parallel()
	eachPass(t, func(t *testing.T, r *testRig) {
		r.insertOrders(300)
		all := r.Pending()
		slices.SortFunc(all, func(a, b prescient.FutureJob) int {
			ka, kb := a.Key(), b.Key()
			return strings.Compare(string(ka[:]), string(kb[:]))
		})
		w := r.worker(rig.At("13:15:01"), rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{})
		list, err := w.ledger.Open(t.Context(), rig.At("13:15"))
		r.Must(err)
		l, err := w.ledger.Claim(t.Context(), rig.At("13:15"), list[0])
		r.Must(err)
		// An app holds both neighbours of rows 100 to 199.
		tx, err := r.App.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		r.Must(err)
		defer func() { _ = tx.Rollback() }()
		for _, i := range []int{99, 200} {
			var found string
			r.Must(tx.QueryRow("SELECT entity_key FROM p_future_job WHERE next_check_at = '2026-11-20 13:15:00' AND job_key = ? FOR UPDATE",
				rig.KeyBytes(all[i].Key())).Scan(&found))
		}
		b := bucket.New(w.shared, bucket.Options{Lease: l, Buckets: 1, Clock: store.ClockAt(rig.At("13:15:01"))})
		var batch []*check.Answered
		for i, job := range all[100:200] {
			a := &check.Answered{Row: check.Row{FutureJob: job, JobKey: job.Key(), Seq: uint64(i + 1)}, Answer: check.Answer{Started: rig.At("13:15:01"), Ended: rig.At("13:15:01")}}
			b.Judge(a)
			batch = append(batch, a)
		}
		b.Streams[0].Outstanding, b.Outstanding["check"] = 100, 100
		r.Must(b.Commit(t.Context(), batch, false))
		if b.Figures.Done != 100 || b.Figures.Retries != 0 || len(r.History()) != 100 {
			t.Errorf("%+v, %d ends; want 100 at the first try", b.Figures, len(r.History()))
		}
	})
}

// Of a commit some rows end, each in its way, and others go on.
func TestACommitByRangesKeepsEndsAndMovesApart(t *testing.T) {
	t.Parallel()
	eachPass(t, func(t *testing.T, r *testRig) {
		r.insertOrders(600)
		var h rig.Hooks
		execs := rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			switch n := job.EntityKey; {
			case strings.HasSuffix(n, "3"):
				return prescient.At(rig.At("15:00")), nil
			case strings.HasSuffix(n, "7"):
				return prescient.At(rig.At("13:00")), nil // past_return
			}
			return nil, nil
		}, prescient.Guards{})
		figures, err := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{}).Run(t.Context())
		r.Must(err)
		if figures.Done != 480 || figures.Moved != 60 || figures.PastReturn != 60 || len(r.Pending()) != 60 || r.Count(rig.CountEnded) != 540 {
			t.Errorf("figures %+v, %d pending, %d ends; want 480 done, 60 moved, 60 past_return", figures, len(r.Pending()), len(r.History()))
		}
		if h.Count("NOWAIT") == 0 || h.Count("job.job_key < X'") == 0 {
			t.Error("nothing was committed by ranges")
		}
		for _, end := range r.History() {
			if past := strings.HasSuffix(end.EntityKey, "7"); past != (end.Outcome == prescient.PastReturn) || past != (end.Error != "") {
				t.Errorf("%s ended as %s, %q", end.EntityKey, end.Outcome, end.Error)
			}
		}
		r.Balanced()
	})
}

// What history has of a row is the same, whether it was written from Go or from the row.
func TestHistoryWrittenFromTheRowIsTheSameAsFromGo(t *testing.T) {
	t.Parallel()
	eachPass(t, func(t *testing.T, r *testRig) {
		for i := range 100 {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i % 50)}, JobExec: fmt.Sprint("exec", i/50), Tag: "it's\\ü",
				DueAt: rig.At("13:14:59.123456"), Payload: []byte(`{"a": "ü'\\\\", "n": 1.50}`)})
		}
		_, err := r.App.Exec("UPDATE p_future_job SET check_count = 2, error_count = 1, put_off_count = 3, total_ms = 77, last_error = 'no''pe\\\\'")
		r.Must(err)
		execs := prescient.NewRegistry()
		execs.MustRegister("exec0", rig.NothingToDo, prescient.Guards{})
		execs.MustRegister("exec1", rig.NothingToDo, prescient.Guards{})
		for i, byRow := range []bool{true, false} {
			var h rig.Hooks
			w := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{Name: "w"})
			list, err := w.ledger.Open(t.Context(), rig.At("13:15"))
			r.Must(err)
			l, err := w.ledger.Claim(t.Context(), rig.At("13:15"), list[0])
			r.Must(err)
			b := bucket.New(w.shared, bucket.Options{Lease: l, Buckets: 1, Clock: store.ClockAt(rig.At("13:15:01"))})
			rows, err := b.ReadBatch(t.Context(), &bucket.Stream{JobExec: fmt.Sprint("exec", i)})
			r.Must(err)
			for n, a := range rows {
				if byRow {
					a.Seq = uint64(n + 1)
				}
				a.Answer = check.Answer{Started: rig.At("13:15:01.5"), Ended: rig.At("13:15:01.750001"), Ran: 250 * time.Millisecond}
				b.Judge(a)
			}
			b.Streams[0].Outstanding, b.Outstanding[fmt.Sprint("exec", i)] = 50, 50
			if byRow { // as ranges of one job_exec's rows, of which nobody else has any
				_, err = r.App.Exec("UPDATE p_future_job SET next_check_at = '2026-11-20 18:00:00' WHERE job_exec = 'exec1'")
				r.Must(err)
			}
			r.Must(b.Commit(t.Context(), rows, false))
			if got := h.Count("SELECT entity_name, entity_key") > 1; got != byRow {
				t.Errorf("written from the row: %v; want %v", got, byRow)
			}
			r.Must(w.ledger.Release(t.Context(), l, false))
			_, err = r.App.Exec("UPDATE p_future_job SET next_check_at = '2026-11-20 13:15:00'")
			r.Must(err)
		}
		const columns = `entity_name, entity_key, tag, due_at, first_check_at, next_check_at, check_count, error_count, put_off_count,
			last_error, total_ms, payload, inserted_at, slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker`
		if n := r.Count("SELECT COUNT(*) FROM (SELECT DISTINCT " + columns + " FROM p_job_history) h"); n != 50 || len(r.History()) != 100 {
			t.Errorf("%d different rows among %d; want 50 pairs", n, len(r.History()))
		}
	})
}

// The role worker may not read history, which MariaDB asks for: such a worker goes on, and says so once.
func TestAWorkerThatMayNotReadHistoryTakesTwoPasses(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.insertOrders(9000)
		var log bytes.Buffer
		execs := prescient.NewRegistry()
		r.Must(execs.RegisterBatch("check", func(_ context.Context, batch *prescient.Batch) error {
			for i := range batch.Jobs() {
				batch.Settle(i)
			}
			return nil
		}, prescient.Guards{}))
		w, err := New(t.Context(), r.As("worker", rig.At("13:15:01")), Options{Prefix: "p_",
			Registry: execs, Log: zerolog.New(zerolog.SyncWriter(&log))})
		r.Must(err)
		figures, err := w.Run(t.Context())
		r.Must(err)
		if figures.Done != 9000 || r.Count(rig.CountEnded) != 9000 {
			t.Errorf("%+v, %d ends", figures, len(r.History()))
		}
		if n := strings.Count(log.String(), "SELECT on job_history"); n != map[text.Server]int{text.MariaDB: 1}[r.Server] {
			t.Errorf("said %d times:\n%s", n, log.String())
		}
		r.Balanced()
	})
}
