package client

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
)

func TestOnPendingSaysWhatBecomesOfThePendingJob(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		early := r.AppAt(rig.At("10:00"))
		// The pending job is due at 13:05 and waits for 13:15.
		for _, tt := range []struct {
			policy prescient.OnPending
			now    string
			due    string
			want   InsertAction // empty: ErrPending
			slot   string
		}{
			// Its slot has not begun.
			{"", "12:00", "12:30", DidKeep, "13:15"},
			{"", "12:00", "14:00", DidKeep, "13:15"},
			{prescient.Keep, "13:14:59.999999", "14:00", DidKeep, "13:15"},
			{prescient.Replace, "12:00", "12:30", DidReplace, "12:30"},
			{prescient.Replace, "12:00", "14:00", DidReplace, "14:00"},
			{prescient.Replace, "12:00", "13:05", DidReplace, "13:15"},
			{prescient.Earlier, "12:00", "12:30", DidReplace, "12:30"},
			{prescient.Earlier, "12:00", "13:04:59.999999", DidReplace, "13:15"},
			{prescient.Earlier, "12:00", "13:05", DidKeep, "13:15"},
			{prescient.Earlier, "12:00", "14:00", DidKeep, "13:15"},
			{prescient.Later, "12:00", "12:30", DidKeep, "13:15"},
			{prescient.Later, "12:00", "13:05", DidKeep, "13:15"},
			{prescient.Later, "12:00", "13:05:00.000001", DidReplace, "13:15"},
			{prescient.Later, "12:00", "14:00", DidReplace, "14:00"},
			{prescient.OnPendingError, "12:00", "14:00", "", ""},
			// Its slot has begun: it may be running, so that all but error put the new job in its place.
			{"", "13:15", "14:00", DidReplace, "14:00"},
			{prescient.Keep, "13:15", "14:00", DidReplace, "14:00"},
			{prescient.Keep, "13:15", "13:05", DidReplace, "13:30"},
			{prescient.Replace, "13:15", "14:00", DidReplace, "14:00"},
			{prescient.Earlier, "13:15", "14:00", DidReplace, "14:00"},
			{prescient.Later, "13:15", "12:00", DidReplace, "13:30"},
			{prescient.OnPendingError, "13:15", "14:00", "", ""},
			// Long ago, and nobody ran it.
			{prescient.Keep, "18:00", "18:05", DidReplace, "18:15"},
			{prescient.Earlier, "18:00", "18:05", DidReplace, "18:15"},
			{prescient.Later, "18:00", "11:00", DidReplace, "18:15"},
			{prescient.OnPendingError, "18:00", "18:05", "", ""},
		} {
			name := fmt.Sprintf("%q at %s, due at %s", tt.policy, tt.now, tt.due)
			now := rig.At(tt.now)
			rig.EachHandle(t, r.AppAt(now), func(h rig.Handle) {
				r.Clear()
				e := rig.Order("42")
				r.put(early, prescient.NewJob{Entity: e, JobExec: "ship", Tag: "a", DueAt: rig.At("13:05"), Payload: json.RawMessage(`"first"`)})
				r.Exec(`UPDATE p_future_job SET check_count = 3, error_count = 2, put_off_count = 1, last_error = 'late', total_ms = 99`)
				before := r.one()
				job := prescient.NewJob{Entity: e, JobExec: "ship", Tag: "a", DueAt: rig.At(tt.due), Payload: json.RawMessage(`"second"`), OnPending: tt.policy}
				did, err := r.client.Insert(t.Context(), h.Db, job)
				h.Done(t)
				after := r.one()
				if r.Count(rig.CountEnded) != 0 {
					t.Errorf("%s, %s: a replaced job is no end", name, h.Name)
				}
				want := before
				switch tt.want {
				case "":
					rig.WantErr(t, name, err, prescient.ErrPending)
				case DidKeep:
					if err != nil || did != (Inserted{Did: DidKeep, DueAt: before.DueAt, Slot: before.NextCheckAt}) {
						t.Errorf("%s, %s: %+v, %v", name, h.Name, did, err)
					}
				case DidReplace:
					if err != nil || did != (Inserted{Did: DidReplace, DueAt: rig.At(tt.due), Slot: rig.At(tt.slot)}) {
						t.Errorf("%s, %s: %+v, %v", name, h.Name, did, err)
					}
					if after.Revision == before.Revision {
						t.Errorf("%s, %s: the revision stayed", name, h.Name)
					}
					want = prescient.FutureJob{
						EntityName: "order", EntityKey: "42", JobExec: "ship", Tag: "a", DueAt: rig.At(tt.due), FirstCheckAt: rig.At(tt.slot),
						NextCheckAt: rig.At(tt.slot), Payload: job.Payload, Revision: after.Revision, InsertedAt: now,
					}
				}
				if !reflect.DeepEqual(after, want) {
					t.Errorf("%s, %s: pending is\n%+v; want\n%+v", name, h.Name, after, want)
				}
			})
		}
	})
}

func TestAJobThatDiffersInTagOrJobExecIsAnother(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, job := range []prescient.NewJob{{JobExec: "ship"}, {JobExec: "ship", Tag: "a"}, {JobExec: "ship", Tag: "A"}, {JobExec: "Ship"}, {JobExec: "pay"}} {
			job.Entity, job.DueAt, job.OnPending = rig.Order("42"), rig.At("13:05"), prescient.OnPendingError
			r.insert(rig.At("10:00"), job)
		}
		if rows := r.pending(); len(rows) != 5 {
			t.Errorf("pending: %+v; want 5 jobs", rows)
		}
	})
}

// Two jobs with the same hash will not be met in the wild; a row whose job_key somebody else wrote stands in for one.
func TestATrueCollisionIsAnErrorOfItsOwn(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		e := rig.Order("42")
		for i, other := range []prescient.NewJob{
			{Entity: rig.Order("43"), JobExec: "ship"},
			{Entity: prescient.Entity{Name: "invoice", Key: "42"}, JobExec: "ship"},
			{Entity: e, JobExec: "pay"},
			{Entity: e, JobExec: "ship", Tag: "x"},
		} {
			r.Clear()
			r.Exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, tag, due_at, job_key) VALUES (?, ?, ?, ?, ?, ?)`,
				other.Entity.Name, other.Entity.Key, other.JobExec, other.Tag, "2026-11-20 13:05:00", rig.KeyBytes(prescient.KeyOf(e, "ship", "")))
			before := r.one()
			now := []time.Time{rig.At("10:00"), rig.At("15:00")}[i%2] // before its slot, and after
			rig.EachHandle(t, r.AppAt(now), func(h rig.Handle) {
				for _, policy := range []prescient.OnPending{prescient.Keep, prescient.Replace, prescient.Earlier, prescient.Later, prescient.OnPendingError} {
					job := prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("16:00"), OnPending: policy}
					_, err := r.client.Insert(t.Context(), h.Db, job)
					rig.WantErr(t, "Insert", err, prescient.ErrKeyCollision)
					_, err = r.client.InsertMany(t.Context(), h.Db, []prescient.NewJob{job})
					rig.WantErr(t, "InsertMany", err, prescient.ErrKeyCollision)
				}
				_, err := r.client.Reschedule(t.Context(), h.Db, e, "ship", "", rig.At("16:00"))
				rig.WantErr(t, "Reschedule", err, prescient.ErrNotFound)
				_, err = r.client.Get(t.Context(), h.Db, e, "ship", "")
				rig.WantErr(t, "Get", err, prescient.ErrNotFound)
				if other.Entity != e {
					if n, err := r.client.Cancel(t.Context(), h.Db, e); n != 0 || err != nil {
						t.Errorf("cancelled %d, %v", n, err)
					}
				}
				h.Done(t)
			})
			if got := r.one(); !reflect.DeepEqual(got, before) || r.Count(rig.CountEnded) != 0 {
				t.Errorf("pending is\n%+v; want\n%+v", got, before)
			}
		}
	})
}

// While an insert waits for another transaction, slots go on beginning.
func TestAnInsertThatWaitedDoesNotKeepAJobWhoseSlotHasBegun(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		e := rig.Order("42")
		first := rig.Begin(t, r.App, 0)
		did, err := r.client.Insert(t.Context(), first, prescient.NewJob{Entity: e, JobExec: "ship", DueAt: time.Unix(1, 0), Payload: json.RawMessage(`1`)})
		r.Must(err)
		begun := make(chan struct{})
		go func() {
			defer close(begun)
			r.WaitForLock("INSERT")
			// The server's clock has to pass the slot; it is within a second.
			r.Exec("DO SLEEP(GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), ?) / 1e6 + 0.01))", did.Slot.Format(literal.MicroLayout))
			if err := first.Commit(); err != nil {
				t.Error(err)
			}
		}()
		second, err := r.client.Insert(t.Context(), r.App, prescient.NewJob{Entity: e, JobExec: "ship", DueAt: time.Unix(1, 0), Payload: json.RawMessage(`2`)})
		r.Must(err)
		<-begun
		if got := r.one(); second.Did != DidReplace || !second.Slot.After(did.Slot) || string(got.Payload) != "2" {
			t.Errorf("first %+v, second %+v, pending %+v; want the second in its place, in a later slot", did, second, got)
		}
	})
}
