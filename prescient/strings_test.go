package prescient

import (
	"fmt"
	"testing"
	"time"

	"prescient/prescient/internal/servertest"
)

// Keys that differ only in case, in a trailing blank or in how a letter is composed are different ones, wherever they
// are given: to insert, list, cancel (by the client and by the procedure), in history, and made pending again.
func TestEveryKeyIsTheSameOneEverywhere(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, storedProcedures)
		r.clear()
		modes := []string{"", "sql_mode=%27%27", "sql_mode=%27ANSI,NO_BACKSLASH_ESCAPES%27&interpolateParams=true"}
		for i, mode := range modes {
			params := fixedClock(at("10:00"))
			if mode != "" {
				params += "&" + mode
			}
			app := servertest.Open(t, r.account("app"), params)
			for _, key := range nasty() {
				r.put(app, NewJob{Entity: order(key), JobExec: "ship", Tag: key, DueAt: at("11:00")})
			}
			for n, key := range nasty() {
				page, err := r.client.Pending(t.Context(), r.as("app", time.Time{}), ListFilter{Entity: order(key), JobExec: "ship"})
				if err != nil || len(page) != 1 || page[0].EntityKey != key || page[0].Tag != key {
					t.Fatalf("%q, %q: %+v, %v", mode, key, page, err)
				}
				cancelled := 0
				if (n+i)%2 == 0 {
					cancelled, err = r.client.Cancel(t.Context(), app, order(key), "ship")
				} else {
					cancelled, err = call(t.Context(), app, "order", key, "ship")
				}
				if err != nil || cancelled != 1 {
					t.Fatalf("%q: cancelling %q: %d, %v", mode, key, cancelled, err)
				}
				ended, err := r.client.History(t.Context(), r.as("analyst", time.Time{}), ListFilter{Entity: order(key)})
				if err != nil || len(ended) != 1 || ended[0].EntityKey != key || ended[0].Tag != key {
					t.Fatalf("%q, %q: ended %+v, %v", mode, key, ended, err)
				}
			}
			if n := r.count(countPending); n != 0 {
				t.Fatalf("%q: %d are left", mode, n)
			}
			if i < len(modes)-1 {
				r.clear()
			}
		}
		did, err := r.client.Requeue(t.Context(), r.pool(at("10:05")), RequeueOptions{Filter: ListFilter{JobExec: "ship", Outcome: Cancelled, From: at("08:00")},
			Limit: 1000})
		if err != nil || did.Requeued != len(nasty()) {
			t.Fatalf("%+v, %v; want %d", did, err, len(nasty()))
		}
		for _, key := range nasty() {
			if job, err := r.client.Get(t.Context(), r.app, order(key), "ship", key); err != nil || job.EntityKey != key || job.Tag != key {
				t.Errorf("%q: %+v, %v", key, job, err)
			}
		}
		for _, wrong := range []string{"", "\xff", "a\xed\xa0\x80", fmt.Sprintf("%129s", "x")} {
			_, err := r.client.Insert(t.Context(), r.app, NewJob{Entity: Entity{"order", wrong}, JobExec: "ship", DueAt: at("11:00")})
			wantErr(t, fmt.Sprintf("inserting %.20q", wrong), err, ErrInvalid)
			_, err = r.client.Cancel(t.Context(), r.app, Entity{"order", wrong})
			wantErr(t, fmt.Sprintf("cancelling %.20q", wrong), err, ErrInvalid)
			if wrong != "" { // which is every key of a name
				_, err = r.client.Pending(t.Context(), r.as("app", time.Time{}), ListFilter{Entity: Entity{"order", wrong}})
				wantErr(t, fmt.Sprintf("listing %.20q", wrong), err, ErrInvalid)
			}
		}
	})
}
