package prescient

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// end writes an end into history, as a slot run would.
func (r *rig) endAs(job FutureJob, outcome Outcome, ended time.Time) {
	r.t.Helper()
	row := appendHistory(nil, historyRow{job: job, key: job.Key(), outcome: outcome, started: ended, ended: ended, worker: "w"})
	r.exec(r.client.fill("slotrun/history_insert", "{rows}", string(row)))
}

func ended(key, exec string) FutureJob {
	return FutureJob{EntityName: "order", EntityKey: key, JobExec: exec, DueAt: at("09:00"), FirstCheckAt: at("09:00"),
		NextCheckAt: at("09:00"), CheckCount: 3, ErrorCount: 6, PutOffCount: 1, LastError: "boom", TotalMS: 99,
		Payload: json.RawMessage(`{"a": "ü"}`), Revision: newRevision(), InsertedAt: at("08:00")}
}

func (r *rig) requeue(now time.Time, o RequeueOptions) Requeued {
	r.t.Helper()
	did, err := r.client.Requeue(r.t.Context(), r.pool(now), o)
	r.must(err)
	return did
}

func TestRequeuedJobsStartAfreshAndNothingPendingIsTouched(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for i, outcome := range []Outcome{Failed, Failed, Failed, TimedOut} {
			r.endAs(ended(fmt.Sprint(i), "check"), outcome, at("09:00").Add(time.Duration(i)*time.Minute))
		}
		r.endAs(ended("1", "check"), Done, at("09:30"))   // since then it went well
		r.endAs(ended("2", "check"), Failed, at("09:40")) // it failed twice
		r.endAs(ended("4", "check"), Failed, at("05:00")) // too long ago
		r.endAs(ended("5", "other"), Failed, at("09:00"))
		r.endAs(ended("6", "check"), Failed, at("09:00")) // pending, and its slot has begun
		r.insert(at("09:00"), NewJob{Entity: order("6"), JobExec: "check", DueAt: at("09:15"), Payload: json.RawMessage(`1`)})
		before := r.one()
		o := RequeueOptions{Filter: ListFilter{JobExec: "check", Outcome: Failed, From: at("08:00")}, Limit: 1000, DryRun: true}
		would := r.requeue(at("10:05"), o)
		if would.Requeued != 2 || would.Kept != 1 || would.Superseded != 2 || would.More || len(r.pending()) != 1 {
			t.Errorf("a dry run says %+v", would)
		}
		o.DryRun = false
		did := r.requeue(at("10:05"), o)
		if fmt.Sprintf("%+v", counts(did)) != fmt.Sprintf("%+v", counts(would)) {
			t.Errorf("%+v after %+v", did, would)
		}
		for _, job := range did.Jobs {
			if job.Did == DidRequeue && !job.Slot.Equal(at("10:15")) || job.Did == DidKeepPending && job.EntityKey != "6" {
				t.Errorf("%+v", job)
			}
		}
		rows := r.pending()
		if len(rows) != 3 || rows[0].Revision != before.Revision || string(rows[0].Payload) != "1" {
			t.Fatalf("pending: %+v", rows)
		}
		for _, job := range rows[1:] {
			if key := job.EntityKey; key != "0" && key != "2" || !job.NextCheckAt.Equal(at("10:15")) || !job.DueAt.Equal(at("10:05")) ||
				job.CheckCount+job.ErrorCount+job.PutOffCount+int(job.TotalMS) != 0 || job.LastError != "" {
				t.Errorf("%+v", job)
			}
			sameJSON(t, job.Payload, json.RawMessage(`{"a": "ü"}`))
		}
		if n := len(r.history()); n != 9 {
			t.Errorf("%d ends in history; want 9", n)
		}
		// Once more: all is pending.
		if again := r.requeue(at("10:05"), o); again.Requeued != 0 || again.Kept != 3 {
			t.Errorf("once more: %+v", again)
		}
		entity := r.requeue(at("10:05"), RequeueOptions{Filter: ListFilter{Entity: order("5")}, AllOutcomes: true, Limit: 1, DueAt: at("13:01")})
		if entity.Requeued != 1 || !entity.Jobs[0].Slot.Equal(at("13:15")) {
			t.Errorf("%+v", entity)
		}
	})
}

func counts(r Requeued) Requeued { r.Jobs = nil; return r }

func TestRequeueGoesThroughPagesUpToItsLimit(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const n = requeueBatch + 20
		var rows []byte
		for i := range n {
			if i > 0 {
				rows = append(rows, ',')
			}
			job, when := ended(fmt.Sprint(i), "check"), at("09:00").Add(time.Duration(i)*time.Second)
			rows = appendHistory(rows, historyRow{job: job, key: job.Key(), outcome: Failed, started: when, ended: when, worker: "w"})
		}
		r.exec(r.client.fill("slotrun/history_insert", "{rows}", string(rows)))
		r.endAs(ended("7", "check"), Failed, at("08:30")) // on the second page
		o := RequeueOptions{Filter: ListFilter{JobExec: "check", From: at("08:00")}, AllOutcomes: true, Limit: 10}
		if did := r.requeue(at("10:05"), o); did.Requeued != 10 || !did.More || did.Jobs[0].EntityKey != fmt.Sprint(n-1) {
			t.Errorf("%+v", did)
		}
		o.Limit = n
		if did := r.requeue(at("10:05"), o); did.Requeued != n-10 || did.Kept != 10 || did.Superseded != 1 || did.More {
			t.Errorf("%+v", counts(did))
		}
	})
}

// A job that becomes pending between the look and the insert is kept as well.
func TestRequeueKeepsWhatBecomesPendingMeanwhile(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for _, key := range []string{"1", "2"} {
			r.endAs(ended(key, "check"), Failed, at("09:00"))
		}
		h := new(hooks)
		h.once("INSERT INTO p_future_job", func() {
			r.insert(at("09:00"), NewJob{Entity: order("1"), JobExec: "check", DueAt: at("09:15"), Payload: json.RawMessage(`1`)})
		})
		did, err := r.client.Requeue(t.Context(), r.hookedAs("owner", at("10:05"), h), RequeueOptions{Filter: ListFilter{JobExec: "check", From: at("08:00")},
			AllOutcomes: true, Limit: 1000})
		r.must(err)
		if rows := r.pending(); did.Requeued != 1 || did.Kept != 1 || len(rows) != 2 || string(rows[0].Payload) != "1" {
			t.Errorf("%+v, pending %+v", did, rows)
		}
	})
}

func TestRequeueWantsToKnowWhat(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.endAs(ended("1", "check"), Failed, at("09:00"))
		one := ListFilter{Entity: order("1")}
		failed := ListFilter{Entity: order("1"), Outcome: Failed}
		for _, wrong := range []struct {
			o    RequeueOptions
			says string
		}{
			{RequeueOptions{Limit: 1}, "AllOutcomes"},
			{RequeueOptions{Filter: ListFilter{From: at("08:00")}, AllOutcomes: true, Limit: 1}, "everything"},
			{RequeueOptions{Filter: ListFilter{Outcome: Failed}, Limit: 1}, "since when"},
			{RequeueOptions{Filter: ListFilter{Entity: Entity{Name: "order"}}, AllOutcomes: true, Limit: 1}, "since when"},
			{RequeueOptions{Filter: one, Limit: 1}, "AllOutcomes"},
			{RequeueOptions{Filter: failed, AllOutcomes: true, Limit: 1}, "one of the two"},
			{RequeueOptions{Filter: failed}, "limit 0: 1 to 10000 are allowed"},
			{RequeueOptions{Filter: failed, Limit: -1}, "limit -1: 1 to 10000 are allowed"},
			{RequeueOptions{Filter: failed, Limit: MaxPage + 1}, "limit 10001: 1 to 10000 are allowed"},
			{RequeueOptions{Filter: ListFilter{Entity: order("1"), Outcome: "lost"}, Limit: 1}, "lost"},
		} {
			_, err := r.client.Requeue(t.Context(), r.pool(at("10:05")), wrong.o)
			wantErr(t, fmt.Sprintf("%+v", wrong.o), err, ErrInvalid)
			if err != nil && !strings.Contains(err.Error(), wrong.says) {
				t.Errorf("%+v: %v; want %q in it", wrong.o, err, wrong.says)
			}
		}
		for _, dry := range []bool{true, false} {
			_, err := r.client.Requeue(t.Context(), r.pool(at("10:05")), RequeueOptions{Filter: failed, Limit: 1,
				DueAt: at("10:05").AddDate(0, 2, 0), DryRun: dry})
			wantErr(t, "beyond the horizon", err, ErrBeyondHorizon)
		}
		if len(r.pending()) != 0 {
			t.Errorf("pending: %+v", r.pending())
		}
	})
}
