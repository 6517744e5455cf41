package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
)

// end writes an end into history, as a slot run would.
func (r *testRig) endAs(job prescient.FutureJob, outcome prescient.Outcome, ended time.Time) {
	r.T.Helper()
	row := store.AppendEnd(nil, store.End{Job: job, Key: job.Key(), Outcome: outcome, Started: ended, Ended: ended, Worker: "w"})
	r.Exec(r.client.tables.Fill("slotrun/history_insert", "{rows}", string(row)))
}

func ended(key, exec string) prescient.FutureJob {
	return prescient.FutureJob{EntityName: "order", EntityKey: key, JobExec: exec, DueAt: rig.At("09:00"), FirstCheckAt: rig.At("09:00"),
		NextCheckAt: rig.At("09:00"), CheckCount: 3, ErrorCount: 6, PutOffCount: 1, LastError: "boom", TotalMS: 99,
		Payload: json.RawMessage(`{"a": "ü"}`), Revision: rowtext.NewRevision(), InsertedAt: rig.At("08:00")}
}

func (r *testRig) requeue(now time.Time, o RequeueOptions) Requeued {
	r.T.Helper()
	did, err := r.client.Requeue(r.T.Context(), r.Pool(now), o)
	r.Must(err)
	return did
}

func TestRequeuedJobsStartAfreshAndNothingPendingIsTouched(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for i, outcome := range []prescient.Outcome{prescient.Failed, prescient.Failed, prescient.Failed, prescient.TimedOut} {
			r.endAs(ended(fmt.Sprint(i), "check"), outcome, rig.At("09:00").Add(time.Duration(i)*time.Minute))
		}
		r.endAs(ended("1", "check"), prescient.Done, rig.At("09:30"))   // since then it went well
		r.endAs(ended("2", "check"), prescient.Failed, rig.At("09:40")) // it failed twice
		r.endAs(ended("4", "check"), prescient.Failed, rig.At("05:00")) // too long ago
		r.endAs(ended("5", "other"), prescient.Failed, rig.At("09:00"))
		r.endAs(ended("6", "check"), prescient.Failed, rig.At("09:00")) // pending, and its slot has begun
		r.insert(rig.At("09:00"), prescient.NewJob{Entity: rig.Order("6"), JobExec: "check", DueAt: rig.At("09:15"), Payload: json.RawMessage(`1`)})
		before := r.one()
		o := RequeueOptions{Filter: ListFilter{JobExec: "check", Outcome: prescient.Failed, From: rig.At("08:00")}, Limit: 1000, DryRun: true}
		would := r.requeue(rig.At("10:05"), o)
		if would.Requeued != 2 || would.Kept != 1 || would.Superseded != 2 || would.More || len(r.pending()) != 1 {
			t.Errorf("a dry run says %+v", would)
		}
		o.DryRun = false
		did := r.requeue(rig.At("10:05"), o)
		if fmt.Sprintf("%+v", counts(did)) != fmt.Sprintf("%+v", counts(would)) {
			t.Errorf("%+v after %+v", did, would)
		}
		for _, job := range did.Jobs {
			if job.Did == DidRequeue && !job.Slot.Equal(rig.At("10:15")) || job.Did == DidKeepPending && job.EntityKey != "6" {
				t.Errorf("%+v", job)
			}
		}
		rows := r.pending()
		if len(rows) != 3 || rows[0].Revision != before.Revision || string(rows[0].Payload) != "1" {
			t.Fatalf("pending: %+v", rows)
		}
		for _, job := range rows[1:] {
			if key := job.EntityKey; key != "0" && key != "2" || !job.NextCheckAt.Equal(rig.At("10:15")) || !job.DueAt.Equal(rig.At("10:05")) ||
				job.CheckCount+job.ErrorCount+job.PutOffCount+int(job.TotalMS) != 0 || job.LastError != "" {
				t.Errorf("%+v", job)
			}
			sameJSON(t, job.Payload, json.RawMessage(`{"a": "ü"}`))
		}
		if n := len(r.history()); n != 9 {
			t.Errorf("%d ends in history; want 9", n)
		}
		// Once more: all is pending.
		if again := r.requeue(rig.At("10:05"), o); again.Requeued != 0 || again.Kept != 3 {
			t.Errorf("once more: %+v", again)
		}
		entity := r.requeue(rig.At("10:05"), RequeueOptions{Filter: ListFilter{Entity: rig.Order("5")}, AllOutcomes: true, Limit: 1, DueAt: rig.At("13:01")})
		if entity.Requeued != 1 || !entity.Jobs[0].Slot.Equal(rig.At("13:15")) {
			t.Errorf("%+v", entity)
		}
	})
}

func counts(r Requeued) Requeued { r.Jobs = nil; return r }

func TestRequeueGoesThroughPagesUpToItsLimit(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const n = requeueBatch + 20
		var rows []byte
		for i := range n {
			if i > 0 {
				rows = append(rows, ',')
			}
			job, when := ended(fmt.Sprint(i), "check"), rig.At("09:00").Add(time.Duration(i)*time.Second)
			rows = store.AppendEnd(rows, store.End{Job: job, Key: job.Key(), Outcome: prescient.Failed, Started: when, Ended: when, Worker: "w"})
		}
		r.Exec(r.client.tables.Fill("slotrun/history_insert", "{rows}", string(rows)))
		r.endAs(ended("7", "check"), prescient.Failed, rig.At("08:30")) // on the second page
		o := RequeueOptions{Filter: ListFilter{JobExec: "check", From: rig.At("08:00")}, AllOutcomes: true, Limit: 10}
		if did := r.requeue(rig.At("10:05"), o); did.Requeued != 10 || !did.More || did.Jobs[0].EntityKey != fmt.Sprint(n-1) {
			t.Errorf("%+v", did)
		}
		o.Limit = n
		if did := r.requeue(rig.At("10:05"), o); did.Requeued != n-10 || did.Kept != 10 || did.Superseded != 1 || did.More {
			t.Errorf("%+v", counts(did))
		}
	})
}

// A job that becomes pending between the look and the insert is kept as well.
func TestRequeueKeepsWhatBecomesPendingMeanwhile(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, key := range []string{"1", "2"} {
			r.endAs(ended(key, "check"), prescient.Failed, rig.At("09:00"))
		}
		h := new(rig.Hooks)
		h.Once("INSERT INTO p_future_job", func() {
			r.insert(rig.At("09:00"), prescient.NewJob{Entity: rig.Order("1"), JobExec: "check", DueAt: rig.At("09:15"), Payload: json.RawMessage(`1`)})
		})
		did, err := r.client.Requeue(t.Context(), r.HookedAs("owner", rig.At("10:05"), h), RequeueOptions{Filter: ListFilter{JobExec: "check", From: rig.At("08:00")},
			AllOutcomes: true, Limit: 1000})
		r.Must(err)
		if rows := r.pending(); did.Requeued != 1 || did.Kept != 1 || len(rows) != 2 || string(rows[0].Payload) != "1" {
			t.Errorf("%+v, pending %+v", did, rows)
		}
	})
}

func TestRequeueWantsToKnowWhat(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.endAs(ended("1", "check"), prescient.Failed, rig.At("09:00"))
		one := ListFilter{Entity: rig.Order("1")}
		failed := ListFilter{Entity: rig.Order("1"), Outcome: prescient.Failed}
		for _, wrong := range []struct {
			o    RequeueOptions
			says string
		}{
			{RequeueOptions{Limit: 1}, "AllOutcomes"},
			{RequeueOptions{Filter: ListFilter{From: rig.At("08:00")}, AllOutcomes: true, Limit: 1}, "everything"},
			{RequeueOptions{Filter: ListFilter{Outcome: prescient.Failed}, Limit: 1}, "since when"},
			{RequeueOptions{Filter: ListFilter{Entity: prescient.Entity{Name: "order"}}, AllOutcomes: true, Limit: 1}, "since when"},
			{RequeueOptions{Filter: one, Limit: 1}, "AllOutcomes"},
			{RequeueOptions{Filter: failed, AllOutcomes: true, Limit: 1}, "one of the two"},
			{RequeueOptions{Filter: failed}, "limit 0: 1 to 10000 are allowed"},
			{RequeueOptions{Filter: failed, Limit: -1}, "limit -1: 1 to 10000 are allowed"},
			{RequeueOptions{Filter: failed, Limit: MaxPage + 1}, "limit 10001: 1 to 10000 are allowed"},
			{RequeueOptions{Filter: ListFilter{Entity: rig.Order("1"), Outcome: "lost"}, Limit: 1}, "lost"},
		} {
			_, err := r.client.Requeue(t.Context(), r.Pool(rig.At("10:05")), wrong.o)
			rig.WantErr(t, fmt.Sprintf("%+v", wrong.o), err, prescient.ErrInvalid)
			if err != nil && !strings.Contains(err.Error(), wrong.says) {
				t.Errorf("%+v: %v; want %q in it", wrong.o, err, wrong.says)
			}
		}
		for _, dry := range []bool{true, false} {
			_, err := r.client.Requeue(t.Context(), r.Pool(rig.At("10:05")), RequeueOptions{Filter: failed, Limit: 1,
				DueAt: rig.At("10:05").AddDate(0, 2, 0), DryRun: dry})
			rig.WantErr(t, "beyond the horizon", err, prescient.ErrBeyondHorizon)
		}
		if len(r.pending()) != 0 {
			t.Errorf("pending: %+v", r.pending())
		}
	})
}

// An app may write any end into history: one that no check can be made of costs itself alone.
func TestRequeueLeavesOutWhatTheTablesRefuse(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for i, names := range []string{"'order', '1', 'x', ''", "'my order', '1', 'x', ''", "'order', '', 'x', ''", "'Schedule', '1', 'x', ''", "'order', X'34E2808B', 'x', ''", "'order', '2', 'x', X'E2808B'"} {
			r.Exec(fmt.Sprintf(`INSERT INTO p_job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, check_count, error_count,
				put_off_count, total_ms, revision, inserted_at, slot, outcome, ended_at, run_ms, worker)
				VALUES (%s, '2026-11-20', UNHEX(LPAD(HEX(%d), 32, '0')), '2026-11-20', '2026-11-20', 0, 0, 0, 0, 1, '2026-11-20', '2026-11-20', 'failed', '2026-11-20 09:00:00', 0, '')`, names, i))
		}
		did := r.requeue(rig.At("10:05"), RequeueOptions{Filter: ListFilter{JobExec: "x", Outcome: prescient.Failed, From: rig.At("08:00")}, Limit: 1000})
		if did.Requeued != 1 || did.Refused != 5 || len(r.pending()) != 1 {
			t.Errorf("%+v; want one requeued, and five refused", did)
		}
	})
}
