package bucket

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
)

// The rows before the first and after the last of a commit are somebody else's.
func TestACommitByRangesDoesNotTouchItsNeighbours(t *testing.T) {
	t.Parallel()
	eachServer(t, 15*time.Minute, func(t *testing.T, r *testRig) {
		r.InsertAll("check", rig.Numbered(300)...)
		all := r.Pending()
		slices.SortFunc(all, func(a, b prescient.FutureJob) int {
			ka, kb := a.Key(), b.Key()
			return strings.Compare(string(ka[:]), string(kb[:]))
		})
		s := shared(r.As("worker", rig.At("13:15:01")), r.Tables(), rig.Registry("check", rig.NothingToDo, prescient.Guards{}))
		l, _ := r.claim(s, rig.At("13:15"))
		// An app holds both neighbours of rows 100 to 199.
		tx, err := r.App.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		r.Must(err)
		defer func() { _ = tx.Rollback() }()
		for _, i := range []int{99, 200} {
			var found string
			r.Must(tx.QueryRow("SELECT entity_key FROM p_future_job WHERE next_check_at = '2026-11-20 13:15:00' AND job_key = ? FOR UPDATE",
				rig.KeyBytes(all[i].Key())).Scan(&found))
		}
		b := New(s, Options{Lease: l, Buckets: 1, Clock: store.ClockAt(rig.At("13:15:01")), Hidden: new(atomic.Bool)})
		var batch []*check.Answered
		for i, job := range all[100:200] {
			a := &check.Answered{Row: check.Row{FutureJob: job, JobKey: job.Key(), Seq: uint64(i + 1)}, Answer: check.Answer{Started: rig.At("13:15:01"), Ended: rig.At("13:15:01")}}
			b.judge(a)
			batch = append(batch, a)
		}
		b.streams[0].outstanding, b.outstanding["check"] = 100, 100
		r.Must(b.commit(t.Context(), batch, commit.ByRanges))
		if b.Figures.Done != 100 || b.Figures.Retries != 0 || len(r.History()) != 100 {
			t.Errorf("%+v, %d ends; want 100 at the first try", b.Figures, len(r.History()))
		}
	})
}

// What history has of a row is the same, whether it was written from Go or from the row.
func TestHistoryWrittenFromTheRowIsTheSameAsFromGo(t *testing.T) {
	t.Parallel()
	eachServer(t, 15*time.Minute, func(t *testing.T, r *testRig) {
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
			s := shared(r.HookedPool(rig.At("13:15:01"), &h), r.Tables(), execs)
			l, _ := r.claim(s, rig.At("13:15"))
			b := New(s, Options{Lease: l, Buckets: 1, Clock: store.ClockAt(rig.At("13:15:01")), Hidden: new(atomic.Bool)})
			rows, err := b.readBatch(t.Context(), &stream{JobExec: fmt.Sprint("exec", i)})
			r.Must(err)
			for n, a := range rows {
				if byRow {
					a.Seq = uint64(n + 1)
				}
				a.Answer = check.Answer{Started: rig.At("13:15:01.5"), Ended: rig.At("13:15:01.750001"), Ran: 250 * time.Millisecond}
				b.judge(a)
			}
			b.streams[0].outstanding, b.outstanding[fmt.Sprint("exec", i)] = 50, 50
			if byRow { // as ranges of one job_exec's rows, of which nobody else has any
				_, err = r.App.Exec("UPDATE p_future_job SET next_check_at = '2026-11-20 18:00:00' WHERE job_exec = 'exec1'")
				r.Must(err)
			}
			r.Must(b.commit(t.Context(), rows, commit.ByRanges))
			if got := h.Count("SELECT entity_name, entity_key") > 1; got != byRow {
				t.Errorf("written from the row: %v; want %v", got, byRow)
			}
			r.Must(s.Ledger.Release(t.Context(), l, false))
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
