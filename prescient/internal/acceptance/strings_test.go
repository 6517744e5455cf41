package acceptance

import (
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	text "prescient/sql"
)

// Keys that differ only in case, in a trailing blank or in how a letter is composed are different ones, wherever they
// are given: to insert, list, cancel (by the client and by the procedure), in history, and made pending again.
func TestEveryKeyIsTheSameOneEverywhere(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		r.Clear()
		modes := []string{"", "sql_mode=%27%27", "sql_mode=%27ANSI,NO_BACKSLASH_ESCAPES%27&interpolateParams=true"}
		for i, mode := range modes {
			params := rig.FixedClock(rig.At("10:00"))
			if mode != "" {
				params += "&" + mode
			}
			app := servertest.Open(t, r.Account("app"), params)
			for _, key := range rig.Nasty() {
				r.Put(app, prescient.NewJob{Entity: rig.Order(key), JobExec: "ship", Tag: key, DueAt: rig.At("11:00")})
			}
			for n, key := range rig.Nasty() {
				page, err := r.Client.Pending(t.Context(), r.As("app", time.Time{}), client.ListFilter{Entity: rig.Order(key), JobExec: "ship"})
				if err != nil || len(page) != 1 || page[0].EntityKey != key || page[0].Tag != key {
					t.Fatalf("%q, %q: %+v, %v", mode, key, page, err)
				}
				cancelled := 0
				if (n+i)%2 == 0 {
					cancelled, err = r.Client.Cancel(t.Context(), app, rig.Order(key), "ship")
				} else {
					cancelled, err = rig.Call(t.Context(), app, "order", key, "ship")
				}
				if err != nil || cancelled != 1 {
					t.Fatalf("%q: cancelling %q: %d, %v", mode, key, cancelled, err)
				}
				ended, err := r.Client.History(t.Context(), r.As("analyst", time.Time{}), client.ListFilter{Entity: rig.Order(key)})
				if err != nil || len(ended) != 1 || ended[0].EntityKey != key || ended[0].Tag != key {
					t.Fatalf("%q, %q: ended %+v, %v", mode, key, ended, err)
				}
			}
			if n := r.Count(rig.CountPending); n != 0 {
				t.Fatalf("%q: %d are left", mode, n)
			}
			if i < len(modes)-1 {
				r.Clear()
			}
		}
		did, err := r.Client.Requeue(t.Context(), r.Pool(rig.At("10:05")), client.RequeueOptions{Filter: client.ListFilter{JobExec: "ship", Outcome: prescient.Cancelled, From: rig.At("08:00")},
			Limit: 1000})
		if err != nil || did.Requeued != len(rig.Nasty()) {
			t.Fatalf("%+v, %v; want %d", did, err, len(rig.Nasty()))
		}
		for _, key := range rig.Nasty() {
			if job, err := r.Client.Get(t.Context(), r.App, rig.Order(key), "ship", key); err != nil || job.EntityKey != key || job.Tag != key {
				t.Errorf("%q: %+v, %v", key, job, err)
			}
		}
		if r.Dialect != text.Plain { // as where there was such a name before the table had this
			r.Exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_seen")
		}
		for _, key := range rig.Unseen() {
			unseen := prescient.NewJob{Entity: rig.Order(key), JobExec: "ship", DueAt: rig.At("11:00")}
			_, err := r.Client.Insert(t.Context(), r.App, unseen)
			rig.WantErr(t, fmt.Sprintf("inserting %+q", key), err, prescient.ErrInvalid)
			_, err = r.Client.InsertMany(t.Context(), r.App, []prescient.NewJob{unseen})
			rig.WantErr(t, fmt.Sprintf("inserting %+q", key), err, prescient.ErrInvalid)
			// What is there under such a name is found.
			_, err = r.App.ExecContext(t.Context(), "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', ?, 'ship', '2026-11-20 11:00:00')", key)
			r.Must(err)
			if did, err := r.Client.Reschedule(t.Context(), r.App, rig.Order(key), "ship", "", rig.At("12:00")); err != nil || !did.DueAt.Equal(rig.At("12:00")) {
				t.Errorf("%+q: %+v, %v", key, did, err)
			}
			if n, err := r.Client.Cancel(t.Context(), r.App, rig.Order(key)); err != nil || n != 1 {
				t.Errorf("%+q: %d, %v", key, n, err)
			}
		}
		for _, name := range []string{"Schedule", "SCHEDULE", "schedule"} {
			_, err := r.Client.Insert(t.Context(), r.App, prescient.NewJob{Entity: prescient.Entity{Name: name, Key: "1"}, JobExec: "ship", DueAt: rig.At("11:00")})
			rig.WantErr(t, "inserting for "+name, err, prescient.ErrInvalid)
		}
		for _, wrong := range []string{"", "\xff", "a\xed\xa0\x80", fmt.Sprintf("%129s", "x")} {
			_, err := r.Client.Insert(t.Context(), r.App, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: wrong}, JobExec: "ship", DueAt: rig.At("11:00")})
			rig.WantErr(t, fmt.Sprintf("inserting %.20q", wrong), err, prescient.ErrInvalid)
			_, err = r.Client.Cancel(t.Context(), r.App, prescient.Entity{Name: "order", Key: wrong})
			rig.WantErr(t, fmt.Sprintf("cancelling %.20q", wrong), err, prescient.ErrInvalid)
			if wrong != "" { // which is every key of a name
				_, err = r.Client.Pending(t.Context(), r.As("app", time.Time{}), client.ListFilter{Entity: prescient.Entity{Name: "order", Key: wrong}})
				rig.WantErr(t, fmt.Sprintf("listing %.20q", wrong), err, prescient.ErrInvalid)
			}
		}
	})
}
