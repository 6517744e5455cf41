package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
)

func TestInsertWorksOnEveryKindOfHandle(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		rig.EachHandle(t, r.AppAt(rig.At("10:00")), func(h rig.Handle) {
			did, err := r.client.Insert(t.Context(), h.Db, prescient.NewJob{Entity: rig.Order(h.Name), JobExec: "ship", DueAt: rig.At("13:05")})
			if err != nil || did.Did != DidInsert || !did.Slot.Equal(rig.At("13:15")) || !did.DueAt.Equal(rig.At("13:05")) {
				t.Fatalf("%s: %+v, %v", h.Name, did, err)
			}
			h.Done(t)
			job, err := r.client.Get(t.Context(), r.App, rig.Order(h.Name), "ship", "")
			if err != nil || !job.NextCheckAt.Equal(rig.At("13:15")) || !job.FirstCheckAt.Equal(rig.At("13:15")) || !job.DueAt.Equal(rig.At("13:05")) {
				t.Errorf("%s: %+v, %v", h.Name, job, err)
			}
			if !job.InsertedAt.Equal(rig.At("10:00")) || job.CheckCount != 0 || job.Payload != nil || job.Revision == 0 {
				t.Errorf("%s: %+v", h.Name, job)
			}
		})
	})
}

func TestWhatAClientDoesCommitsWithTheCallersTransaction(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.insert(rig.At("10:00"), prescient.NewJob{Entity: rig.Order("old"), JobExec: "ship", DueAt: rig.At("12:00")})
		before := r.one()
		rig.EachTx(t, r.AppAt(rig.At("10:00")), func(h rig.Handle) {
			_, err := r.client.Insert(t.Context(), h.Db, prescient.NewJob{Entity: rig.Order("new"), JobExec: "ship", DueAt: rig.At("13:05")})
			r.Must(err)
			_, err = r.client.InsertMany(t.Context(), h.Db, []prescient.NewJob{{Entity: rig.Order("bulk"), JobExec: "ship", DueAt: rig.At("13:05")}})
			r.Must(err)
			_, err = r.client.Reschedule(t.Context(), h.Db, rig.Order("old"), "ship", "", rig.At("14:00"))
			r.Must(err)
			n, err := r.client.Cancel(t.Context(), h.Db, rig.Order("old"))
			r.Must(err)
			if got := r.one(); n != 1 || got.Revision != before.Revision || !got.NextCheckAt.Equal(before.NextCheckAt) {
				t.Errorf("%s: seen before the commit: %+v", h.Name, got)
			}
			r.Must(h.Rollback())
			if got := r.one(); got.Revision != before.Revision || r.Count(rig.CountEnded) != 0 {
				t.Errorf("%s: left by a rolled back transaction: %+v", h.Name, got)
			}
		})
	})
}

func TestDueTimesAreRoundedUpToASlotThatIsStillOpen(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		nepal := time.FixedZone("", (5*60+45)*60)
		for i, tt := range []struct {
			now, due, wantDue, wantSlot time.Time
		}{
			// Between slots, on one, and just past it.
			{rig.At("10:00"), rig.At("13:05"), rig.At("13:05"), rig.At("13:15")},
			{rig.At("10:00"), rig.At("13:15"), rig.At("13:15"), rig.At("13:15")},
			{rig.At("10:00"), rig.At("13:15").Add(1), rig.At("13:15:00.000001"), rig.At("13:30")},
			{rig.At("10:00"), rig.At("13:15:00.000001"), rig.At("13:15:00.000001"), rig.At("13:30")},
			{rig.At("10:00"), rig.At("13:14:59.999999"), rig.At("13:14:59.999999"), rig.At("13:15")},
			{rig.At("10:00"), rig.At("13:15").Add(-1), rig.At("13:15"), rig.At("13:15")},
			{rig.At("10:00"), rig.At("23:45:00.000001"), rig.At("23:45:00.000001"), rig.Day.AddDate(0, 0, 1)},
			// The zone of the time given plays no part.
			{rig.At("10:00"), rig.At("13:05").In(nepal), rig.At("13:05"), rig.At("13:15")},
			// What is over goes to the next open slot; a slot that begins at this moment is not open.
			{rig.At("10:00"), rig.At("10:00"), rig.At("10:00"), rig.At("10:15")},
			{rig.At("10:00:00.000001"), rig.At("09:59"), rig.At("09:59"), rig.At("10:15")},
			{rig.At("10:14:59.999999"), rig.At("10:14:59"), rig.At("10:14:59"), rig.At("10:15")},
			{rig.At("10:15"), rig.At("10:15"), rig.At("10:15"), rig.At("10:30")},
			{rig.At("10:00"), time.Date(1999, 1, 2, 3, 4, 5, 6789, time.UTC), time.Date(1999, 1, 2, 3, 4, 5, 7000, time.UTC), rig.At("10:15")},
			{rig.At("10:00"), time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), prescient.EarliestDue, rig.At("10:15")},
			{rig.At("10:00"), time.Date(-4000, 1, 1, 0, 0, 0, 0, time.UTC), prescient.EarliestDue, rig.At("10:15")},
			// The horizon itself is allowed.
			{rig.At("10:07"), rig.At("10:07").AddDate(0, 0, 30), rig.At("10:07").AddDate(0, 0, 30), rig.At("10:15").AddDate(0, 0, 30)},
		} {
			e := rig.Order(fmt.Sprint(i))
			did := r.insert(tt.now, prescient.NewJob{Entity: e, JobExec: "ship", DueAt: tt.due})
			job, err := r.client.Get(t.Context(), r.App, e, "ship", "")
			r.Must(err)
			if !did.DueAt.Equal(tt.wantDue) || !did.Slot.Equal(tt.wantSlot) {
				t.Errorf("%s asked for at %s: %+v; want due %s in slot %s", tt.due, tt.now, did, tt.wantDue, tt.wantSlot)
			}
			if !job.DueAt.Equal(did.DueAt) || !job.NextCheckAt.Equal(did.Slot) || !job.FirstCheckAt.Equal(did.Slot) {
				t.Errorf("%s asked for at %s: said %+v, stored %+v", tt.due, tt.now, did, job)
			}
			if job.DueAt.Location() != time.UTC || did.DueAt.Location() != time.UTC || did.Slot.Location() != time.UTC {
				t.Errorf("times are not in UTC: %+v, %+v", did, job)
			}
		}
	})
}

func TestAFirstCheckBeyondTheHorizonIsRefused(t *testing.T) {
	t.Parallel()
	execs := prescient.NewRegistry()
	execs.MustRegister("short", rig.NeverCalled, prescient.Guards{Horizon: time.Hour})
	execs.MustRegister("long", rig.NeverCalled, prescient.Guards{Horizon: 90 * 24 * time.Hour})
	execs.MustRegister("plain", rig.NeverCalled, prescient.Guards{})
	eachServer(t, func(t *testing.T, r *testRig) {
		client, err := New(t.Context(), r.App, Options{Prefix: "p_", Dialect: r.Setting, Registry: execs, Guards: prescient.Guards{Horizon: 24 * time.Hour}})
		r.Must(err)
		now := rig.At("10:00")
		app := r.AppAt(now)
		for _, tt := range []struct {
			client  *Client
			exec    string
			horizon time.Duration
		}{
			{client, "short", time.Hour},
			{client, "long", 90 * 24 * time.Hour},
			{client, "plain", 24 * time.Hour},
			{client, "unknown", 24 * time.Hour},
			{r.client, "unknown", 30 * 24 * time.Hour},
		} {
			r.Clear()
			e, last := rig.Order("42"), now.Add(tt.horizon)
			for _, beyond := range []time.Time{last.Add(1), last.AddDate(1, 0, 0), time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)} {
				job := prescient.NewJob{Entity: e, JobExec: tt.exec, DueAt: beyond}
				_, err := tt.client.Insert(t.Context(), app, job)
				rig.WantErr(t, "Insert "+tt.exec, err, prescient.ErrBeyondHorizon)
				_, err = tt.client.InsertMany(t.Context(), app, []prescient.NewJob{job})
				rig.WantErr(t, "InsertMany "+tt.exec, err, prescient.ErrBeyondHorizon)
				r.none()
			}
			_, err := tt.client.Insert(t.Context(), app, prescient.NewJob{Entity: e, JobExec: tt.exec, DueAt: last})
			r.Must(err)
			before := r.one()
			_, err = tt.client.Insert(t.Context(), app, prescient.NewJob{Entity: e, JobExec: tt.exec, DueAt: last.Add(1), OnPending: prescient.Replace})
			rig.WantErr(t, "replace "+tt.exec, err, prescient.ErrBeyondHorizon)
			_, err = tt.client.Reschedule(t.Context(), app, e, tt.exec, "", last.Add(1))
			rig.WantErr(t, "Reschedule "+tt.exec, err, prescient.ErrBeyondHorizon)
			if got := r.one(); got.Revision != before.Revision || !got.DueAt.Equal(last) {
				t.Errorf("%s: %+v; want it as it was: %+v", tt.exec, got, before)
			}
		}
	})
}

func TestEveryTextComesBackAsItWasAndIsAJobOfItsOwn(t *testing.T) {
	t.Parallel()
	keys := append(rig.Nasty(), strings.Repeat("k", prescient.MaxKeyLen), strings.Repeat("🚢", prescient.MaxKeyLen), strings.Repeat(" ", prescient.MaxKeyLen))
	tags := append(rig.Nasty(), "", " ")
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		app := r.AppAt(rig.At("10:00"))
		var jobs []prescient.NewJob
		for _, key := range keys {
			jobs = append(jobs, prescient.NewJob{Entity: rig.Order(key), JobExec: "ship", DueAt: rig.At("11:00")})
		}
		for _, tag := range tags {
			jobs = append(jobs, prescient.NewJob{Entity: rig.Order("tagged"), JobExec: "ship", Tag: tag, DueAt: rig.At("11:00")})
		}
		for i, job := range jobs {
			did, err := r.client.Insert(t.Context(), app, job)
			if err != nil || did.Did != DidInsert {
				t.Fatalf("job %d, key %q, tag %q: %+v, %v", i, job.Entity.Key, job.Tag, did, err)
			}
		}
		listed := make(map[string]bool)
		for _, job := range r.pending() {
			listed[job.EntityKey+"\x00\x00"+job.Tag] = true
		}
		for _, job := range jobs {
			got, err := r.client.Get(t.Context(), app, job.Entity, job.JobExec, job.Tag)
			if err != nil || got.Entity() != job.Entity || got.Tag != job.Tag {
				t.Errorf("key %q, tag %q: got %+v, %v", job.Entity.Key, job.Tag, got, err)
			}
			if !listed[job.Entity.Key+"\x00\x00"+job.Tag] {
				t.Errorf("key %q, tag %q is not in the listing as it was given", job.Entity.Key, job.Tag)
			}
		}
		// The column's default gives the same key, so that a plain INSERT means the same job.
		var differ int
		r.Must(r.Root.QueryRow(`SELECT COUNT(*) FROM p_future_job WHERE job_key <> CONCAT(
			SUBSTRING(UNHEX(SHA2(CONCAT(CAST(entity_name AS BINARY), UNHEX('00'), CAST(entity_key AS BINARY)), 256)), 1, 12),
			SUBSTRING(UNHEX(SHA2(CONCAT(CAST(job_exec AS BINARY), UNHEX('00'), CAST(tag AS BINARY)), 256)), 1, 4))`).Scan(&differ))
		if differ != 0 {
			t.Errorf("%d rows have another job_key than the default gives", differ)
		}
		for _, key := range keys {
			if n, err := r.client.Cancel(t.Context(), app, rig.Order(key)); n != 1 || err != nil {
				t.Errorf("key %q: cancelled %d, %v", key, n, err)
			}
		}
		ended := make(map[string]bool)
		for _, end := range r.history() {
			ended[end.EntityKey] = true
		}
		for _, key := range keys {
			if !ended[key] {
				t.Errorf("key %q is not in history as it was given", key)
			}
		}
	})
}

func TestWhatCannotBeStoredIsRefusedWithNothingWritten(t *testing.T) {
	t.Parallel()
	good := prescient.NewJob{Entity: rig.Order("42"), JobExec: "ship", DueAt: rig.At("11:00")}
	with := func(change func(*prescient.NewJob)) prescient.NewJob {
		job := good
		change(&job)
		return job
	}
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StillClocks)
		lax := servertest.Open(t, r.Account("app"), rig.FixedClock(rig.At("10:00"))+"&sql_mode=''")
		for name, job := range map[string]prescient.NewJob{
			"no entity name":          with(func(j *prescient.NewJob) { j.Entity.Name = "" }),
			"no entity key":           with(func(j *prescient.NewJob) { j.Entity.Key = "" }),
			"name with a blank":       with(func(j *prescient.NewJob) { j.Entity.Name = "an order" }),
			"name with an accent":     with(func(j *prescient.NewJob) { j.Entity.Name = "ordér" }),
			"name with a slash":       with(func(j *prescient.NewJob) { j.Entity.Name = "a/b" }),
			"name with a NUL":         with(func(j *prescient.NewJob) { j.Entity.Name = "a\x00" }),
			"name too long":           with(func(j *prescient.NewJob) { j.Entity.Name = strings.Repeat("n", prescient.MaxNameLen+1) }),
			"key too long":            with(func(j *prescient.NewJob) { j.Entity.Key = strings.Repeat("k", prescient.MaxKeyLen+1) }),
			"key of emoji too long":   with(func(j *prescient.NewJob) { j.Entity.Key = strings.Repeat("🚢", prescient.MaxKeyLen+1) }),
			"key not UTF-8":           with(func(j *prescient.NewJob) { j.Entity.Key = "a\xff" }),
			"key half of a surrogate": with(func(j *prescient.NewJob) { j.Entity.Key = "\xed\xa0\x80" }),
			"no job_exec":             with(func(j *prescient.NewJob) { j.JobExec = "" }),
			"job_exec with a quote":   with(func(j *prescient.NewJob) { j.JobExec = "it's" }),
			"job_exec too long":       with(func(j *prescient.NewJob) { j.JobExec = strings.Repeat("e", prescient.MaxNameLen+1) }),
			"tag too long":            with(func(j *prescient.NewJob) { j.Tag = strings.Repeat("t", prescient.MaxTagLen+1) }),
			"tag not UTF-8":           with(func(j *prescient.NewJob) { j.Tag = "\xc3" }),
			"no due time":             with(func(j *prescient.NewJob) { j.DueAt = time.Time{} }),
			"unknown policy":          with(func(j *prescient.NewJob) { j.OnPending = "ignore" }),
		} {
			_, err := r.client.Insert(t.Context(), lax, job)
			rig.WantErr(t, "Insert: "+name, err, prescient.ErrInvalid)
			_, err = r.client.InsertMany(t.Context(), lax, []prescient.NewJob{good, job})
			rig.WantErr(t, "InsertMany: "+name, err, prescient.ErrInvalid)
			if err != nil && !strings.HasPrefix(err.Error(), "check 2: ") {
				t.Errorf("InsertMany: %s: error %q does not say which job", name, err)
			}
		}
		for _, e := range []prescient.Entity{{Name: "", Key: "42"}, {Name: "order", Key: ""}, {Name: "or der", Key: "42"}, {Name: "order", Key: "\xff"}} {
			_, err := r.client.Cancel(t.Context(), lax, e)
			rig.WantErr(t, "Cancel", err, prescient.ErrInvalid)
			_, err = r.client.Reschedule(t.Context(), lax, e, "ship", "", rig.At("12:00"))
			rig.WantErr(t, "Reschedule", err, prescient.ErrInvalid)
		}
		_, err := r.client.Cancel(t.Context(), lax, rig.Order("42"), "ship", "not an identifier")
		rig.WantErr(t, "Cancel", err, prescient.ErrInvalid)
		_, err = r.client.Reschedule(t.Context(), lax, rig.Order("42"), "ship", "", time.Time{})
		rig.WantErr(t, "Reschedule", err, prescient.ErrInvalid)
		r.none()
	})
}

func TestNamesMayBeAsLongAsTheColumns(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		name := strings.Repeat("aZ09_.-x", prescient.MaxNameLen/8)
		r.insert(rig.At("10:00"), prescient.NewJob{Entity: prescient.Entity{Name: name, Key: "42"}, JobExec: name, DueAt: rig.At("11:00"), Payload: json.RawMessage("{}")})
		if got := r.one(); got.EntityName != name || got.JobExec != name {
			t.Errorf("got %+v", got)
		}
	})
}
