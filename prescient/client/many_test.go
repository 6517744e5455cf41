package client

import (
	"database/sql"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
)

// entitiesOf are the entities of some checks.
func entitiesOf(jobs []prescient.NewJob) (list []prescient.Entity) {
	for _, job := range jobs {
		list = append(list, job.Entity)
	}
	return list
}

func TestCancelManyCancelsWhatIsPendingForManyEntities(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const n = 2*cancelEntities + 50 // three times a look, and more rows than are cancelled together
		jobs := manyJobs(n)
		both := append([]prescient.NewJob(nil), jobs...)
		for _, job := range jobs {
			job.JobExec, job.Payload = "another", []byte(`{"a": 1}`)
			both = append(both, job)
		}
		rig.EachHandle(t, r.AppAt(rig.At("10:00")), func(h rig.Handle) {
			defer r.Clear()
			_, err := r.client.InsertMany(t.Context(), r.AppAt(rig.At("10:00")), both)
			r.Must(err)
			r.put(r.AppAt(rig.At("10:00")), prescient.NewJob{Entity: rig.Order("other"), JobExec: "ship", DueAt: rig.At("13:00")})
			asked := append(entitiesOf(jobs), jobs[3].Entity, rig.Order("of which nothing is pending"))
			check := func(what string, got int, err error, want int) {
				t.Helper()
				if err != nil || got != want {
					t.Errorf("%s: %s: cancelled %d, %v; want %d", h.Name, what, got, err, want)
				}
			}
			got, err := r.client.CancelMany(t.Context(), h.Db, asked, "another")
			check("of one job_exec", got, err, n)
			got, err = r.client.CancelMany(t.Context(), h.Db, asked)
			check("of all", got, err, n)
			got, err = r.client.CancelMany(t.Context(), h.Db, asked)
			check("again", got, err, 0)
			got, err = r.client.CancelMany(t.Context(), h.Db, nil)
			check("of none", got, err, 0)
			h.Done(t)
			if r.one().EntityKey != "other" || r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'cancelled'") != 2*n ||
				r.Count(`SELECT COUNT(*) FROM p_job_history WHERE payload IS NOT NULL AND job_exec = 'another'`) != n {
				t.Errorf("%s: in history: %d", h.Name, r.Count(rig.CountEnded))
			}
		})
		_, err := r.client.CancelMany(t.Context(), r.App, []prescient.Entity{rig.Order("1"), {Name: "no name!", Key: "2"}})
		if rig.WantErr(t, "a bad entity", err, prescient.ErrInvalid); !rig.Contains(err, "entity 2", "no name!") {
			t.Error(err)
		}
		_, err = r.client.CancelMany(t.Context(), r.App, []prescient.Entity{rig.Order("1")}, "no name!")
		rig.WantErr(t, "a bad job_exec", err, prescient.ErrInvalid)
	})
}

// What others commit after the snapshot of the caller's transaction is cancelled as well.
func TestCancelManyFindsWhatASnapshotDoesNotShow(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		jobs := manyJobs(20)
		_, err := r.client.InsertMany(t.Context(), r.AppAt(rig.At("10:00")), jobs[:10])
		r.Must(err)
		tx := rig.Begin(t, r.AppAt(rig.At("10:00")), sql.LevelRepeatableRead)
		var n int
		r.Must(tx.QueryRow("SELECT COUNT(*) FROM p_future_job").Scan(&n))
		others := r.AppAs("app-reschedule", rig.At("10:00"))
		_, err = r.client.InsertMany(t.Context(), others, jobs[10:])
		r.Must(err)
		_, err = r.client.Reschedule(t.Context(), others, jobs[0].Entity, jobs[0].JobExec, "", rig.At("18:00"))
		r.Must(err)
		cancelled, err := r.client.CancelMany(t.Context(), tx, entitiesOf(jobs))
		if r.Refuses(r.App) { // rows that were changed after the snapshot
			if !BeginAgain(err) {
				t.Errorf("cancelled %d, %v; want to be told to begin again", cancelled, err)
			}
			r.Must(store.Rollback(tx))
			tx = rig.Begin(t, r.AppAt(rig.At("10:00")), sql.LevelRepeatableRead)
			cancelled, err = r.client.CancelMany(t.Context(), tx, entitiesOf(jobs))
		}
		if err != nil || cancelled != len(jobs) {
			t.Errorf("cancelled %d, %v; want %d", cancelled, err, len(jobs))
		}
		r.Must(tx.Commit())
		if n := r.Count(rig.CountPending); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

func TestCancelManyIsAllOrNothingAndTakesFewStatements(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.Triggers)
		jobs := manyJobs(2 * cancelEntities)
		_, err := r.client.InsertMany(t.Context(), r.AppAt(rig.At("10:00")), jobs)
		r.Must(err)
		var h rig.Hooks
		db := r.HookedAs("app", rig.At("10:00"), &h)
		r.Exec("CREATE TRIGGER p_no BEFORE INSERT ON p_job_history FOR EACH ROW BEGIN IF NEW.entity_key = '" + jobs[7].Entity.Key +
			"' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF; END")
		for name, handle := range map[string]prescient.DB{"DB": db, "Tx": rig.Begin(t, db.DB, sql.LevelDefault)} {
			if n, err := r.client.CancelMany(t.Context(), handle, entitiesOf(jobs)); err == nil || n != 0 {
				t.Errorf("%s: cancelled %d, %v", name, n, err)
			}
			if tx, is := handle.(*sql.Tx); is {
				r.Must(tx.Commit())
			}
			if n := r.Count(rig.CountPending); n != len(jobs) || r.Count(rig.CountEnded) != 0 {
				t.Errorf("%s: %d rows are left", name, n)
			}
		}
		r.Exec("DROP TRIGGER p_no")
		before := h.Count("")
		n, err := r.client.CancelMany(t.Context(), db, entitiesOf(jobs))
		if took := h.Count("") - before; err != nil || n != len(jobs) || took > 9 {
			t.Errorf("cancelled %d, %v, by %d statements; want a look, a copy and a delete for each %d, in a transaction", n, err, took, cancelEntities)
		}
	})
}
