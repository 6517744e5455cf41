package prescient

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/servertest"
)

func TestInsertWorksOnEveryKindOfHandle(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		eachHandle(t, r.appAt(at("10:00")), func(h handle) {
			did, err := r.client.Insert(t.Context(), h.db, NewJob{Entity: order(h.name), JobExec: "ship", DueAt: at("13:05")})
			if err != nil || did.Did != DidInsert || !did.Slot.Equal(at("13:15")) || !did.DueAt.Equal(at("13:05")) {
				t.Fatalf("%s: %+v, %v", h.name, did, err)
			}
			h.done(t)
			job, err := r.client.Get(t.Context(), r.app, order(h.name), "ship", "")
			if err != nil || !job.NextCheckAt.Equal(at("13:15")) || !job.FirstCheckAt.Equal(at("13:15")) || !job.DueAt.Equal(at("13:05")) {
				t.Errorf("%s: %+v, %v", h.name, job, err)
			}
			if !job.InsertedAt.Equal(at("10:00")) || job.CheckCount != 0 || job.Payload != nil || job.Revision == 0 {
				t.Errorf("%s: %+v", h.name, job)
			}
		})
	})
}

func TestWhatAClientDoesCommitsWithTheCallersTransaction(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.insert(at("10:00"), NewJob{Entity: order("old"), JobExec: "ship", DueAt: at("12:00")})
		before := r.one()
		eachTx(t, r.appAt(at("10:00")), func(h handle) {
			_, err := r.client.Insert(t.Context(), h.db, NewJob{Entity: order("new"), JobExec: "ship", DueAt: at("13:05")})
			r.must(err)
			_, err = r.client.InsertMany(t.Context(), h.db, []NewJob{{Entity: order("bulk"), JobExec: "ship", DueAt: at("13:05")}})
			r.must(err)
			_, err = r.client.Reschedule(t.Context(), h.db, order("old"), "ship", "", at("14:00"))
			r.must(err)
			n, err := r.client.Cancel(t.Context(), h.db, order("old"))
			r.must(err)
			if got := r.one(); n != 1 || got.Revision != before.Revision || !got.NextCheckAt.Equal(before.NextCheckAt) {
				t.Errorf("%s: seen before the commit: %+v", h.name, got)
			}
			r.must(h.rollback())
			if got := r.one(); got.Revision != before.Revision || r.count(countEnded) != 0 {
				t.Errorf("%s: left by a rolled back transaction: %+v", h.name, got)
			}
		})
	})
}

func TestDueTimesAreRoundedUpToASlotThatIsStillOpen(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		nepal := time.FixedZone("", (5*60+45)*60)
		for i, tt := range []struct {
			now, due, wantDue, wantSlot time.Time
		}{
			// Between slots, on one, and just past it.
			{at("10:00"), at("13:05"), at("13:05"), at("13:15")},
			{at("10:00"), at("13:15"), at("13:15"), at("13:15")},
			{at("10:00"), at("13:15").Add(1), at("13:15:00.000001"), at("13:30")},
			{at("10:00"), at("13:15:00.000001"), at("13:15:00.000001"), at("13:30")},
			{at("10:00"), at("13:14:59.999999"), at("13:14:59.999999"), at("13:15")},
			{at("10:00"), at("13:15").Add(-1), at("13:15"), at("13:15")},
			{at("10:00"), at("23:45:00.000001"), at("23:45:00.000001"), day.AddDate(0, 0, 1)},
			// The zone of the time given plays no part.
			{at("10:00"), at("13:05").In(nepal), at("13:05"), at("13:15")},
			// What is over goes to the next open slot; a slot that begins at this moment is not open.
			{at("10:00"), at("10:00"), at("10:00"), at("10:15")},
			{at("10:00:00.000001"), at("09:59"), at("09:59"), at("10:15")},
			{at("10:14:59.999999"), at("10:14:59"), at("10:14:59"), at("10:15")},
			{at("10:15"), at("10:15"), at("10:15"), at("10:30")},
			{at("10:00"), time.Date(1999, 1, 2, 3, 4, 5, 6789, time.UTC), time.Date(1999, 1, 2, 3, 4, 5, 7000, time.UTC), at("10:15")},
			{at("10:00"), time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), earliestDue, at("10:15")},
			{at("10:00"), time.Date(-4000, 1, 1, 0, 0, 0, 0, time.UTC), earliestDue, at("10:15")},
			// The horizon itself is allowed.
			{at("10:07"), at("10:07").AddDate(0, 0, 30), at("10:07").AddDate(0, 0, 30), at("10:15").AddDate(0, 0, 30)},
		} {
			e := order(fmt.Sprint(i))
			did := r.insert(tt.now, NewJob{Entity: e, JobExec: "ship", DueAt: tt.due})
			job, err := r.client.Get(t.Context(), r.app, e, "ship", "")
			r.must(err)
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
	execs := NewRegistry()
	execs.MustRegister("short", neverCalled, Guards{Horizon: time.Hour})
	execs.MustRegister("long", neverCalled, Guards{Horizon: 90 * 24 * time.Hour})
	execs.MustRegister("plain", neverCalled, Guards{})
	eachServer(t, func(t *testing.T, r *rig) {
		client, err := NewClient(t.Context(), r.app, ClientOptions{Prefix: "p_", Registry: execs, Guards: Guards{Horizon: 24 * time.Hour}})
		r.must(err)
		now := at("10:00")
		app := r.appAt(now)
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
			r.clear()
			e, last := order("42"), now.Add(tt.horizon)
			for _, beyond := range []time.Time{last.Add(1), last.AddDate(1, 0, 0), time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)} {
				job := NewJob{Entity: e, JobExec: tt.exec, DueAt: beyond}
				_, err := tt.client.Insert(t.Context(), app, job)
				wantErr(t, "Insert "+tt.exec, err, ErrBeyondHorizon)
				_, err = tt.client.InsertMany(t.Context(), app, []NewJob{job})
				wantErr(t, "InsertMany "+tt.exec, err, ErrBeyondHorizon)
				r.none()
			}
			_, err := tt.client.Insert(t.Context(), app, NewJob{Entity: e, JobExec: tt.exec, DueAt: last})
			r.must(err)
			before := r.one()
			_, err = tt.client.Insert(t.Context(), app, NewJob{Entity: e, JobExec: tt.exec, DueAt: last.Add(1), OnPending: Replace})
			wantErr(t, "replace "+tt.exec, err, ErrBeyondHorizon)
			_, err = tt.client.Reschedule(t.Context(), app, e, tt.exec, "", last.Add(1))
			wantErr(t, "Reschedule "+tt.exec, err, ErrBeyondHorizon)
			if got := r.one(); got.Revision != before.Revision || !got.DueAt.Equal(last) {
				t.Errorf("%s: %+v; want it as it was: %+v", tt.exec, got, before)
			}
		}
	})
}

// nasty are keys and tags that have been mistreated somewhere by somebody.
func nasty() []string {
	return []string{
		"42", "O'Brien", `"quoted"`, "`ticked`", `back\slash`, `\`, `\'`, `'; DROP TABLE p_future_job; -- `, "%s%d?", "?", "_", "%",
		"a/b/c", "a:b,c", " leading", "trailing ", "trailing  ", "trailing", "tab\t", "line\nfeed\r\n", "nul\x00", "nul\x00nul", "\x00",
		"\x1a", "\x7f", "CASE", "case", "Case", "naïve", "nai\u0308ve", "ß", "ss", "🚢", "🚢🚚👩‍👩‍👧", "日本語", "\u202eabc", "\ufeff",
		"\ufffd", "\U0010ffff", strings.Repeat("k", MaxTagLen), strings.Repeat("🚢", MaxTagLen), "0", "NULL", "null", "{prefix}", "{key}", "X'41'",
	}
}

func TestEveryTextComesBackAsItWasAndIsAJobOfItsOwn(t *testing.T) {
	keys := append(nasty(), strings.Repeat("k", MaxKeyLen), strings.Repeat("🚢", MaxKeyLen), strings.Repeat(" ", MaxKeyLen))
	tags := append(nasty(), "", " ")
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		app := r.appAt(at("10:00"))
		var jobs []NewJob
		for _, key := range keys {
			jobs = append(jobs, NewJob{Entity: order(key), JobExec: "ship", DueAt: at("11:00")})
		}
		for _, tag := range tags {
			jobs = append(jobs, NewJob{Entity: order("tagged"), JobExec: "ship", Tag: tag, DueAt: at("11:00")})
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
		r.must(r.root.QueryRow(`SELECT COUNT(*) FROM p_future_job WHERE job_key <> CONCAT(
			SUBSTRING(UNHEX(SHA2(CONCAT(CAST(entity_name AS BINARY), UNHEX('00'), CAST(entity_key AS BINARY)), 256)), 1, 12),
			SUBSTRING(UNHEX(SHA2(CONCAT(CAST(job_exec AS BINARY), UNHEX('00'), CAST(tag AS BINARY)), 256)), 1, 4))`).Scan(&differ))
		if differ != 0 {
			t.Errorf("%d rows have another job_key than the default gives", differ)
		}
		for _, key := range keys {
			if n, err := r.client.Cancel(t.Context(), app, order(key)); n != 1 || err != nil {
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
	good := NewJob{Entity: order("42"), JobExec: "ship", DueAt: at("11:00")}
	with := func(change func(*NewJob)) NewJob {
		job := good
		change(&job)
		return job
	}
	eachServer(t, func(t *testing.T, r *rig) {
		lax := servertest.Open(t, r.account("app"), fixedClock(at("10:00"))+"&sql_mode=''")
		for name, job := range map[string]NewJob{
			"no entity name":          with(func(j *NewJob) { j.Entity.Name = "" }),
			"no entity key":           with(func(j *NewJob) { j.Entity.Key = "" }),
			"name with a blank":       with(func(j *NewJob) { j.Entity.Name = "an order" }),
			"name with an accent":     with(func(j *NewJob) { j.Entity.Name = "ordér" }),
			"name with a slash":       with(func(j *NewJob) { j.Entity.Name = "a/b" }),
			"name with a NUL":         with(func(j *NewJob) { j.Entity.Name = "a\x00" }),
			"name too long":           with(func(j *NewJob) { j.Entity.Name = strings.Repeat("n", MaxNameLen+1) }),
			"key too long":            with(func(j *NewJob) { j.Entity.Key = strings.Repeat("k", MaxKeyLen+1) }),
			"key of emoji too long":   with(func(j *NewJob) { j.Entity.Key = strings.Repeat("🚢", MaxKeyLen+1) }),
			"key not UTF-8":           with(func(j *NewJob) { j.Entity.Key = "a\xff" }),
			"key half of a surrogate": with(func(j *NewJob) { j.Entity.Key = "\xed\xa0\x80" }),
			"no job_exec":             with(func(j *NewJob) { j.JobExec = "" }),
			"job_exec with a quote":   with(func(j *NewJob) { j.JobExec = "it's" }),
			"job_exec too long":       with(func(j *NewJob) { j.JobExec = strings.Repeat("e", MaxNameLen+1) }),
			"tag too long":            with(func(j *NewJob) { j.Tag = strings.Repeat("t", MaxTagLen+1) }),
			"tag not UTF-8":           with(func(j *NewJob) { j.Tag = "\xc3" }),
			"no due time":             with(func(j *NewJob) { j.DueAt = time.Time{} }),
			"unknown policy":          with(func(j *NewJob) { j.OnPending = "ignore" }),
		} {
			_, err := r.client.Insert(t.Context(), lax, job)
			wantErr(t, "Insert: "+name, err, ErrInvalid)
			_, err = r.client.InsertMany(t.Context(), lax, []NewJob{good, job})
			wantErr(t, "InsertMany: "+name, err, ErrInvalid)
			if err != nil && !strings.HasPrefix(err.Error(), "job 2: ") {
				t.Errorf("InsertMany: %s: error %q does not say which job", name, err)
			}
		}
		for _, e := range []Entity{{"", "42"}, {"order", ""}, {"or der", "42"}, {"order", "\xff"}} {
			_, err := r.client.Cancel(t.Context(), lax, e)
			wantErr(t, "Cancel", err, ErrInvalid)
			_, err = r.client.Reschedule(t.Context(), lax, e, "ship", "", at("12:00"))
			wantErr(t, "Reschedule", err, ErrInvalid)
		}
		_, err := r.client.Cancel(t.Context(), lax, order("42"), "ship", "not an identifier")
		wantErr(t, "Cancel", err, ErrInvalid)
		_, err = r.client.Reschedule(t.Context(), lax, order("42"), "ship", "", time.Time{})
		wantErr(t, "Reschedule", err, ErrInvalid)
		r.none()
	})
}

func TestNamesMayBeAsLongAsTheColumns(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		name := strings.Repeat("aZ09_.-x", MaxNameLen/8)
		r.insert(at("10:00"), NewJob{Entity: Entity{name, "42"}, JobExec: name, DueAt: at("11:00"), Payload: json.RawMessage("{}")})
		if got := r.one(); got.EntityName != name || got.JobExec != name {
			t.Errorf("got %+v", got)
		}
	})
}
