package prescient

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"
)

func TestOnPendingSaysWhatBecomesOfThePendingJob(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		early := r.appAt(at("10:00"))
		// The pending job is due at 13:05 and waits for 13:15.
		for _, tt := range []struct {
			policy OnPending
			now    string
			due    string
			want   InsertAction // empty: ErrPending
			slot   string
		}{
			// Its slot has not begun.
			{"", "12:00", "12:30", DidKeep, "13:15"},
			{"", "12:00", "14:00", DidKeep, "13:15"},
			{Keep, "13:14:59.999999", "14:00", DidKeep, "13:15"},
			{Replace, "12:00", "12:30", DidReplace, "12:30"},
			{Replace, "12:00", "14:00", DidReplace, "14:00"},
			{Replace, "12:00", "13:05", DidReplace, "13:15"},
			{Earlier, "12:00", "12:30", DidReplace, "12:30"},
			{Earlier, "12:00", "13:04:59.999999", DidReplace, "13:15"},
			{Earlier, "12:00", "13:05", DidKeep, "13:15"},
			{Earlier, "12:00", "14:00", DidKeep, "13:15"},
			{Later, "12:00", "12:30", DidKeep, "13:15"},
			{Later, "12:00", "13:05", DidKeep, "13:15"},
			{Later, "12:00", "13:05:00.000001", DidReplace, "13:15"},
			{Later, "12:00", "14:00", DidReplace, "14:00"},
			{OnPendingError, "12:00", "14:00", "", ""},
			// Its slot has begun: it may be running, so that all but error put the new job in its place.
			{"", "13:15", "14:00", DidReplace, "14:00"},
			{Keep, "13:15", "14:00", DidReplace, "14:00"},
			{Keep, "13:15", "13:05", DidReplace, "13:30"},
			{Replace, "13:15", "14:00", DidReplace, "14:00"},
			{Earlier, "13:15", "14:00", DidReplace, "14:00"},
			{Later, "13:15", "12:00", DidReplace, "13:30"},
			{OnPendingError, "13:15", "14:00", "", ""},
			// Long ago, and nobody ran it.
			{Keep, "18:00", "18:05", DidReplace, "18:15"},
			{Earlier, "18:00", "18:05", DidReplace, "18:15"},
			{Later, "18:00", "11:00", DidReplace, "18:15"},
			{OnPendingError, "18:00", "18:05", "", ""},
		} {
			name := fmt.Sprintf("%q at %s, due at %s", tt.policy, tt.now, tt.due)
			now := at(tt.now)
			eachHandle(t, r.appAt(now), func(h handle) {
				r.clear()
				e := order("42")
				r.put(early, NewJob{Entity: e, JobExec: "ship", Tag: "a", DueAt: at("13:05"), Payload: json.RawMessage(`"first"`)})
				r.exec(`UPDATE p_future_job SET check_count = 3, error_count = 2, put_off_count = 1, last_error = 'late', total_ms = 99`)
				before := r.one()
				job := NewJob{Entity: e, JobExec: "ship", Tag: "a", DueAt: at(tt.due), Payload: json.RawMessage(`"second"`), OnPending: tt.policy}
				did, err := r.client.Insert(t.Context(), h.db, job)
				h.done(t)
				after := r.one()
				if r.count(countEnded) != 0 {
					t.Errorf("%s, %s: a replaced job is no end", name, h.name)
				}
				want := before
				switch tt.want {
				case "":
					wantErr(t, name, err, ErrPending)
				case DidKeep:
					if err != nil || did != (Inserted{DidKeep, before.DueAt, before.NextCheckAt}) {
						t.Errorf("%s, %s: %+v, %v", name, h.name, did, err)
					}
				case DidReplace:
					if err != nil || did != (Inserted{DidReplace, at(tt.due), at(tt.slot)}) {
						t.Errorf("%s, %s: %+v, %v", name, h.name, did, err)
					}
					if after.Revision == before.Revision {
						t.Errorf("%s, %s: the revision stayed", name, h.name)
					}
					want = FutureJob{
						EntityName: "order", EntityKey: "42", JobExec: "ship", Tag: "a", DueAt: at(tt.due), FirstCheckAt: at(tt.slot),
						NextCheckAt: at(tt.slot), Payload: job.Payload, Revision: after.Revision, InsertedAt: now,
					}
				}
				if !reflect.DeepEqual(after, want) {
					t.Errorf("%s, %s: pending is\n%+v; want\n%+v", name, h.name, after, want)
				}
			})
		}
	})
}

func TestAJobThatDiffersInTagOrJobExecIsAnother(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for _, job := range []NewJob{{JobExec: "ship"}, {JobExec: "ship", Tag: "a"}, {JobExec: "ship", Tag: "A"}, {JobExec: "Ship"}, {JobExec: "pay"}} {
			job.Entity, job.DueAt, job.OnPending = order("42"), at("13:05"), OnPendingError
			r.insert(at("10:00"), job)
		}
		if rows := r.pending(); len(rows) != 5 {
			t.Errorf("pending: %+v; want 5 jobs", rows)
		}
	})
}

// Two jobs with the same hash will not be met in the wild; a row whose job_key somebody else wrote stands in for one.
func TestATrueCollisionIsAnErrorOfItsOwn(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		e := order("42")
		for i, other := range []NewJob{
			{Entity: order("43"), JobExec: "ship"},
			{Entity: Entity{"invoice", "42"}, JobExec: "ship"},
			{Entity: e, JobExec: "pay"},
			{Entity: e, JobExec: "ship", Tag: "x"},
		} {
			r.clear()
			r.exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, tag, due_at, job_key) VALUES (?, ?, ?, ?, ?, ?)`,
				other.Entity.Name, other.Entity.Key, other.JobExec, other.Tag, "2026-11-20 13:05:00", keyBytes(KeyOf(e, "ship", "")))
			before := r.one()
			now := []time.Time{at("10:00"), at("15:00")}[i%2] // before its slot, and after
			eachHandle(t, r.appAt(now), func(h handle) {
				for _, policy := range []OnPending{Keep, Replace, Earlier, Later, OnPendingError} {
					job := NewJob{Entity: e, JobExec: "ship", DueAt: at("16:00"), OnPending: policy}
					_, err := r.client.Insert(t.Context(), h.db, job)
					wantErr(t, "Insert", err, ErrKeyCollision)
					_, err = r.client.InsertMany(t.Context(), h.db, []NewJob{job})
					wantErr(t, "InsertMany", err, ErrKeyCollision)
				}
				_, err := r.client.Reschedule(t.Context(), h.db, e, "ship", "", at("16:00"))
				wantErr(t, "Reschedule", err, ErrNotFound)
				_, err = r.client.Get(t.Context(), h.db, e, "ship", "")
				wantErr(t, "Get", err, ErrNotFound)
				if other.Entity != e {
					if n, err := r.client.Cancel(t.Context(), h.db, e); n != 0 || err != nil {
						t.Errorf("cancelled %d, %v", n, err)
					}
				}
				h.done(t)
			})
			if got := r.one(); !reflect.DeepEqual(got, before) || r.count(countEnded) != 0 {
				t.Errorf("pending is\n%+v; want\n%+v", got, before)
			}
		}
	})
}

// While an insert waits for another transaction, slots go on beginning.
func TestAnInsertThatWaitedDoesNotKeepAJobWhoseSlotHasBegun(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		e := order("42")
		first := begin(t, r.app, 0)
		did, err := r.client.Insert(t.Context(), first, NewJob{Entity: e, JobExec: "ship", DueAt: time.Unix(1, 0), Payload: json.RawMessage(`1`)})
		r.must(err)
		begun := make(chan struct{})
		go func() {
			defer close(begun)
			r.waitForLock("INSERT")
			// The server's clock has to pass the slot; it is within a second.
			_, err := first.Exec("DO SLEEP(GREATEST(0, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), ?) / 1e6 + 0.01))", did.Slot.Format(microLayout))
			if err != nil {
				t.Error(err)
			}
			if err := first.Commit(); err != nil {
				t.Error(err)
			}
		}()
		second, err := r.client.Insert(t.Context(), r.app, NewJob{Entity: e, JobExec: "ship", DueAt: time.Unix(1, 0), Payload: json.RawMessage(`2`)})
		r.must(err)
		<-begun
		if got := r.one(); second.Did != DidReplace || !second.Slot.After(did.Slot) || string(got.Payload) != "2" {
			t.Errorf("first %+v, second %+v, pending %+v; want the second in its place, in a later slot", did, second, got)
		}
	})
}
