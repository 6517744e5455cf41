package acceptance

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/event"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker"
)

// does says what a deed of the statements came to: "cancelled 1".
func (a *app) does(deed string) (did string, err error) {
	a.t.Helper()
	switch deed {
	case "reschedule":
		return a.reschedule()
	case "cancel":
		n, err := a.cancel()
		return fmt.Sprint("cancelled ", n), err
	}
	return a.put(prescient.OnPending(deed))
}

// commits does a deed and commits. What MariaDB from 11.6 on refuses it has rolled back, and another transaction does it.
func (a *app) commits(deed string, begin func() *app) (did string) {
	a.t.Helper()
	did, err := a.does(deed)
	if errno.Is(err, errno.CheckRead) {
		_ = a.tx.Rollback()
		a = begin()
		did, err = a.does(deed)
	}
	rig.Fatal(a.t, err)
	rig.Fatal(a.t, a.tx.Commit())
	return did
}

// deeds are all that change a check.
var deeds = []string{"keep", "replace", "earlier", "later", "reschedule", "cancel"}

// What somebody else commits after the app's snapshot, or between its look and what it does then, counts: under either isolation level.
func TestPlainStatementsGoByWhatIsThereNow(t *testing.T) {
	inPlain(t, func(t *testing.T, r *testRig) {
		now := rig.At("13:00")
		others := []struct {
			name   string
			before bool // it is pending at 14:00 before
			do     func(e prescient.Entity)
			did    map[string]string // what becomes of a put to 15:00
		}{
			{"inserts", false, func(e prescient.Entity) {
				r.Insert(now, prescient.NewJob{Entity: e, JobExec: "check", DueAt: rig.At("14:00")})
			}, map[string]string{"keep": "kept 14:00", "replace": "replaced 15:00", "earlier": "kept 14:00", "later": "replaced 15:00", "reschedule": "rescheduled 15:00", "cancel": "cancelled 1"}},
			{"moves", true, func(e prescient.Entity) {
				_, err := r.Client.Reschedule(t.Context(), r.AppAt(now), e, "check", "", rig.At("16:00"))
				r.Must(err)
			}, map[string]string{"keep": "kept 16:00", "replace": "replaced 15:00", "earlier": "replaced 15:00", "later": "kept 16:00", "reschedule": "rescheduled 15:00", "cancel": "cancelled 1"}},
			{"cancels", true, func(e prescient.Entity) { r.Cancels(t, e) },
				map[string]string{"keep": "inserted 15:00", "replace": "inserted 15:00", "earlier": "inserted 15:00", "later": "inserted 15:00", "reschedule": "absent", "cancel": "cancelled 0"}},
		}
		for _, at := range bothLevels {
			for _, other := range others {
				for _, when := range []string{"after-the-snapshot", "after-the-look"} {
					for _, deed := range deeds {
						e := prescient.Entity{Name: "order", Key: strings.Join([]string{level(at), other.name, when, deed}, ".")}
						if other.before {
							r.Insert(now, prescient.NewJob{Entity: e, JobExec: "check", DueAt: rig.At("14:00")})
						}
						check := prescient.NewJob{Entity: e, JobExec: "check", DueAt: rig.At("15:00")}
						begin := func() *app { return r.begins("app-reschedule", now, at, check) }
						app := begin()
						if when == "after-the-look" {
							app.between = func() { other.do(e) }
						} else {
							other.do(e)
						}
						did := app.commits(deed, begin)
						if left := r.pendingAt(e); left != "" {
							did += " " + left
						}
						if did != other.did[deed] {
							t.Errorf("%s: %s; want %s", e.Key, did, other.did[deed])
						}
					}
				}
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE entity_name = 'prescient'"); n != 0 {
			t.Errorf("%d bookends are left", n)
		}
	})
}

// pendingAt is when the one check of an entity is, or nothing.
func (r *testRig) pendingAt(e prescient.Entity) string {
	r.T.Helper()
	var at sql.NullString
	r.Must(r.Root.QueryRow("SELECT GROUP_CONCAT(TIME_FORMAT(next_check_at, '%H:%i')) FROM p_future_job WHERE entity_name = ? AND entity_key = ?", e.Name, e.Key).Scan(&at))
	return at.String
}

// Beside a slot run that has read the same check, what commits wins over the answer of the call, and of what is rolled back nothing is left. What the
// slot run ends between the look and what follows is pending no more.
func TestPlainStatementsBesideASlotRunOfTheSameCheck(t *testing.T) {
	inPlain(t, func(t *testing.T, r *testRig) {
		now := rig.At("14:00:01")
		do := make(map[string]func()) // in the call, by entity
		registry := rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			if do := do[job.EntityKey]; do != nil {
				do()
			}
			return nil, nil
		}, prescient.Guards{})
		wants := make(map[string]string)
		for _, at := range bothLevels {
			for _, deed := range deeds {
				for _, ends := range []string{"commits", "rolls-back"} {
					key := strings.Join([]string{level(at), deed, ends}, ".")
					check := prescient.NewJob{Entity: rig.Order(key), JobExec: "check", DueAt: rig.At("14:30")}
					r.Insert(rig.At("13:00"), prescient.NewJob{Entity: check.Entity, JobExec: "check", DueAt: rig.At("14:00")})
					wants[key] = map[string]string{"commits reschedule": "14:30, ", "commits cancel": ", cancelled", "rolls-back " + deed: ", done"}[ends+" "+deed]
					if wants[key] == "" {
						wants[key] = "14:30, "
					}
					do[key] = func() {
						app := r.begins("app-reschedule", now, at, check)
						did, err := app.does(deed)
						for errno.Is(err, errno.Deadlock) { // with what is done beside it for another check
							_ = app.tx.Rollback()
							app = r.begins("app-reschedule", now, at, check)
							did, err = app.does(deed)
						}
						if want := map[string]string{"reschedule": "rescheduled", "cancel": "cancelled 1"}[deed]; err != nil || did != want && (want != "" || did != "replaced") {
							t.Errorf("%s: %s, %v", key, did, err)
						}
						if ends == "commits" {
							err = app.tx.Commit()
						} else {
							err = app.tx.Rollback()
						}
						if err != nil {
							t.Errorf("%s: %v", key, err)
						}
					}
				}
			}
		}
		r.RunAt(now, registry, worker.Options{})
		for key, want := range wants {
			if got := r.pendingAt(rig.Order(key)) + ", " + r.outcomes(rig.Order(key)); got != want {
				t.Errorf("%s: %s; want %s", key, got, want)
			}
		}
		r.Balanced()

		for _, at := range bothLevels {
			for _, deed := range deeds {
				e := rig.Order(level(at) + ".ends." + deed)
				r.Insert(rig.At("13:00"), prescient.NewJob{Entity: e, JobExec: "check", DueAt: rig.At("14:15")})
				begin := func() *app {
					return r.begins("app-reschedule", rig.At("14:14"), at, prescient.NewJob{Entity: e, JobExec: "check", DueAt: rig.At("14:30")})
				}
				app := begin()
				app.between = func() { r.RunAt(rig.At("14:15:01"), registry, worker.Options{}) }
				did := app.commits(deed, begin)
				want := map[string]string{"reschedule": "absent, , done", "cancel": "cancelled 0, , done"}[deed]
				if want == "" {
					want = "inserted, 14:30, done"
				}
				if got := did + ", " + r.pendingAt(e) + ", " + r.outcomes(e); got != want {
					t.Errorf("%s: %s; want %s", e.Key, got, want)
				}
				r.Exec("DELETE FROM p_future_job WHERE entity_key = ?", e.Key)
			}
		}
	})
}

// outcomes are the ends of an entity's checks.
func (r *testRig) outcomes(e prescient.Entity) string {
	r.T.Helper()
	var all sql.NullString
	r.Must(r.Root.QueryRow("SELECT GROUP_CONCAT(outcome) FROM p_job_history WHERE entity_name = ? AND entity_key = ?", e.Name, e.Key).Scan(&all))
	return all.String
}

// What is looked for and not there keeps nobody else waiting, however long the app's transaction is open; what is kept stays until then.
func TestPlainStatementsLockTheirCheckAlone(t *testing.T) {
	inPlain(t, func(t *testing.T, r *testRig) {
		now := rig.At("13:00")
		for _, deed := range []string{"reschedule", "cancel", "keep"} {
			there := prescient.NewJob{Entity: rig.Order(deed), JobExec: "check", DueAt: rig.At("14:00")}
			r.Insert(now, there)
			of := there
			if deed != "keep" {
				of.Entity = rig.Order(deed + ", not there")
			}
			app := r.begins("app-reschedule", now, sql.LevelRepeatableRead, of)
			if did, err := app.does(deed); err != nil || did != map[string]string{"reschedule": "absent", "cancel": "cancelled 0", "keep": "kept"}[deed] {
				t.Errorf("%s, %v", did, err)
			}
			other, err := r.AppAt(now).Conn(t.Context())
			r.Must(err)
			_, err = other.ExecContext(t.Context(), "SET innodb_lock_wait_timeout = 1")
			r.Must(err)
			for i := range 8 { // on either side of it
				if _, err := r.Client.Insert(t.Context(), other, prescient.NewJob{Entity: rig.Order(fmt.Sprint(deed, i)), JobExec: "check", DueAt: rig.At("14:00")}); err != nil {
					t.Errorf("%s: %v", deed, err)
				}
			}
			if deed == "keep" {
				_, err = r.Client.Cancel(t.Context(), other, of.Entity)
			} else {
				_, err = r.Client.Insert(t.Context(), other, of)
			}
			if !errno.Is(err, errno.LockWaitTimeout) {
				t.Errorf("%s: its check is somebody else's before the app commits: %v", deed, err)
			}
			r.Must(app.tx.Commit())
			r.Must(other.Close())
		}
	})
}

// An account of the role app-sql can insert, look and publish; what changes a row needs more.
func TestTheRoleAppSQLInPlainLooksAndInsertsAndChangesNothing(t *testing.T) {
	inPlain(t, func(t *testing.T, r *testRig) {
		now := rig.At("13:00")
		check := prescient.NewJob{Entity: rig.Order("1"), JobExec: "check", DueAt: rig.At("14:00")}
		app := r.begins("app-sql", now, sql.LevelRepeatableRead, check)
		if _, err := app.put(prescient.OnPendingError); err != nil {
			t.Error(err)
		}
		r.Must(app.tx.Commit())
		app = r.begins("app-sql", rig.At("13:00:00.000001"), sql.LevelRepeatableRead, prescient.NewJob{})
		if did, err := app.exec("put insert"); err != nil || did != 1 {
			t.Error(did, err)
		}
		r.Must(app.tx.Commit())
		if job, err := r.Client.Get(t.Context(), r.App, rig.Order("42"), "order-unshipped", ""); err != nil || !job.DueAt.Equal(rig.At("16:00:00.000001")) || !job.NextCheckAt.Equal(rig.At("16:15")) {
			t.Errorf("what stands there is pending as %+v, %v", job, err)
		}
		app = r.begins("app-sql", now, sql.LevelRepeatableRead, check)
		if _, err := app.put(prescient.OnPendingError); !errno.Is(err, errno.DuplicateKey) {
			t.Error(err)
		}
		for _, name := range []string{"put replace", "reschedule move", "reschedule away", "cancel copy", "cancel gone"} {
			if _, err := app.exec(name); !refusedRight(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for column, may := range map[string]bool{"outcome": true, "error": true, "payload": false, "worker": false} {
			if _, err := app.tx.Exec("SELECT MAX(" + column + ") FROM p_job_history"); (err == nil) != may || err != nil && !refusedRight(err) {
				t.Errorf("%s of history: %v", column, err)
			}
		}
		_, err := app.exec("publish")
		r.Must(err)
		r.Must(app.tx.Commit())
		r.Must(event.New(r.Client).Publish(t.Context(), r.AppAt(now), event.Event{ID: "another", Topic: "orders.late", Key: "order/42", Payload: []byte(`{"order":42}`)}))
		var alike, all int
		r.Must(r.Root.QueryRow("SELECT COUNT(DISTINCT shard, topic, event_key, inserted_at, payload), COUNT(*) FROM p_event_outbox").Scan(&alike, &all))
		if alike != 1 || all != 2 {
			t.Errorf("%d of %d events are alike", alike, all)
		}
	})
}

// Each goes by an index, whatever a variable of the session is to the server.
func TestPlainStatementsScanNoTable(t *testing.T) {
	inPlain(t, func(t *testing.T, r *testRig) {
		job := r.Fill().Some(rig.BigSlot, 1)[0]
		conn, err := r.Pool(time.Time{}).DB.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		app := r.begins("app-reschedule", rig.At("13:00"), sql.LevelReadCommitted, prescient.NewJob{Entity: job.Entity(), JobExec: job.JobExec, DueAt: job.DueAt})
		set := append(append(append([]string{}, app.files["check names"]...), fmt.Sprintf("SET @entity_name = '%s', @entity_key = '%s', @job_exec = '%s', @on_pending = 'keep', "+
			"@was = '%s', @revision = '%d'", job.EntityName, job.EntityKey, job.JobExec, job.NextCheckAt.Format(time.DateTime), job.Revision)), app.files["check keys"]...)
		for _, statement := range append(append(set, "SET @seen = @job_key"), app.files["check slot"]...) {
			_, err := conn.ExecContext(t.Context(), statement)
			r.Must(err)
		}
		for name, reached := range map[string]map[string]string{
			"put look": {"p_future_job": rig.ByKey}, "put stay": {"p_future_job": rig.BySlotAndKey}, "put replace": {"p_future_job": rig.BySlotAndKey},
			"reschedule look": {"p_future_job": rig.ByKey}, "reschedule move": {"p_future_job": rig.BySlotAndKey},
			"cancel look": {"p_future_job": rig.ByKey}, "cancel lock": {"p_future_job": rig.ByKey}, "cancel copy": {"p_future_job": rig.BySlotAndKey},
			"cancel gone": {"job": rig.BySlotAndKey}, "cancel away": {"job": rig.BySlotAndKey}, "pending": {"p_future_job": rig.ByKey},
		} {
			rig.Explained{Statement: name, Query: app.files[name][0], Reached: reached}.Check(t, conn)
		}
	})
}
