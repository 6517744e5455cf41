package client

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
)

func TestAnInsertIsOneStatementWhereNothingIsPending(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults) // in plain a client looks first
		var h rig.Hooks
		db := r.HookedAs("app", rig.At("10:00"), &h)
		keys := 0
		// statements inserts a check of another entity each time, and returns how many statements that takes.
		statements := func(on prescient.DB, job prescient.NewJob) int {
			keys++
			job.Entity = rig.Order(fmt.Sprint(keys))
			before := h.Count("")
			did, err := r.client.Insert(t.Context(), on, job)
			if r.Must(err); did.Did != DidInsert || did.Slot.Before(rig.At("10:15")) {
				t.Fatalf("%+v: %+v", job, did)
			}
			return h.Count("") - before
		}
		check := func(what string, got, want int) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %d statements; want %d", what, got, want)
			}
		}
		check("at the first", statements(db, prescient.NewJob{JobExec: "ship", DueAt: rig.At("13:05")}), 1)
		for _, level := range []sql.IsolationLevel{sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
			tx := rig.Begin(t, db.DB, level)
			check("in "+level.String(), statements(tx, prescient.NewJob{JobExec: "ship", DueAt: rig.At("13:05"), Tag: "x", Payload: []byte(`{"a": "\u00e9"}`)}), 1)
			r.Must(tx.Commit())
		}
		check("for the slot that comes next", statements(db, prescient.NewJob{JobExec: "ship", DueAt: rig.At("10:00:00.000001")}), 1)
		check("at the horizon", statements(db, prescient.NewJob{JobExec: "ship", DueAt: rig.At("10:00").AddDate(0, 0, 30)}), 1)

		check("what is due", statements(db, prescient.NewJob{JobExec: "now", DueAt: rig.At("10:00")}), 3)
		check("what is due again", statements(db, prescient.NewJob{JobExec: "now", DueAt: rig.At("10:00")}), 2)
		check("after what was due", statements(db, prescient.NewJob{JobExec: "now", DueAt: rig.At("13:05")}), 2)
		check("of another job_exec", statements(db, prescient.NewJob{JobExec: "ship", DueAt: rig.At("13:05")}), 1)
		r.put(db, prescient.NewJob{Entity: rig.Order("1"), JobExec: "ship", DueAt: rig.At("13:05")})
		check("with another policy", statements(db, prescient.NewJob{JobExec: "now", DueAt: rig.At("13:05"), OnPending: prescient.OnPendingError}), 1)
		check("after one that was pending", statements(db, prescient.NewJob{JobExec: "ship", DueAt: rig.At("13:05")}), 2)
	})
}

// A direct insert is right or comes to nothing: whoever looks after it does what it would have done before it.
func TestADirectInsertAndALookComeToTheSame(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		db := r.AppAs("app-reschedule", rig.At("10:00"))
		for name, c := range map[string]struct {
			due  time.Time
			want string
			err  error
		}{
			"to come":             {rig.At("13:05"), "13:15", nil},
			"now":                 {rig.At("10:00"), "10:15", nil},
			"over":                {rig.At("09:00"), "10:15", nil},
			"at the horizon":      {rig.At("10:00").AddDate(0, 0, 30), "10:00", nil},
			"beyond the horizon":  {rig.At("10:00").AddDate(0, 0, 30).Add(1), "", prescient.ErrBeyondHorizon},
			"never":               {time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), "", prescient.ErrBeyondHorizon},
			"out of any calendar": {time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC), "", prescient.ErrBeyondHorizon},
		} {
			for _, policy := range []prescient.OnPending{prescient.Keep, prescient.OnPendingError, prescient.Replace, prescient.Earlier, prescient.Later} {
				var came [2]string
				for i := range came {
					r.Clear()
					if r.client.lately.looked(time.Now()); i == 1 {
						r.client.lately.wasWorthIt(way{"ship", policy}, time.Now())
					} else {
						r.client.lately.looksFirst = nil
					}
					job := prescient.NewJob{Entity: rig.Order("42"), JobExec: "ship", DueAt: c.due, OnPending: policy}
					for range 2 {
						did, err := r.client.Insert(t.Context(), db, job)
						if c.err != nil {
							rig.WantErr(t, name, err, c.err)
						} else if err != nil && policy != prescient.OnPendingError || did.Slot.Format("15:04") != c.want {
							t.Errorf("%s, %s: %+v, %v; want slot %s", name, policy, did, err, c.want)
						}
						came[i] += fmt.Sprintf("%+v %v; ", did, err)
					}
				}
				if came[0] != came[1] {
					t.Errorf("%s, %s: directly %s\nwith a look %s", name, policy, came[0], came[1])
				}
			}
		}
	})
}

func TestWhenAClientLooksFirst(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		looked, wasWorthIt time.Duration // how long ago
		want               bool
	}{
		"it has looked lately":             {store.VersionLasts - 1, time.Hour, false},
		"it has not":                       {store.VersionLasts, time.Hour, true},
		"a look was worth it":              {0, 0, true},
		"a look was worth it for a while":  {0, looksFirstFor - 1, true},
		"a look was worth it, but no more": {0, looksFirstFor, false},
	} {
		var l lately
		l.looked(now.Add(-c.looked))
		l.wasWorthIt(way{"ship", prescient.Replace}, now.Add(-c.wasWorthIt))
		if got := l.needsLook(way{"ship", prescient.Replace}, now); got != c.want {
			t.Errorf("%s: %v; want %v", name, got, c.want)
		}
	}
	var l lately
	l.looked(now)
	for i := range 3 * maxLooksFirst {
		l.wasWorthIt(way{fmt.Sprint("x", i), prescient.Keep}, now)
	}
	l.wasWorthIt(way{"ship", prescient.Replace}, now)
	for _, w := range []way{{"ship", prescient.Keep}, {"pay", prescient.Replace}} {
		if l.needsLook(w, now) {
			t.Errorf("it looks first for %v, for which nothing was noted", w)
		}
	}
	if n := len(l.looksFirst); n > maxLooksFirst {
		t.Errorf("it remembers %d job_execs; want %d at most", n, maxLooksFirst)
	}
}
