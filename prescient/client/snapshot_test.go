package client

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// handleWithSnapshot is a way to be in a transaction that sees the tables as they were at its first look.
type handleWithSnapshot struct {
	name string
	open func(t *testing.T, db *sql.DB) rig.Handle
}

func snapshots() []handleWithSnapshot {
	tx := func(level sql.IsolationLevel) func(*testing.T, *sql.DB) rig.Handle {
		return func(t *testing.T, db *sql.DB) rig.Handle {
			tx := rig.Begin(t, db, level)
			return rig.Handle{Name: level.String(), Db: tx, Commit: tx.Commit, Rollback: tx.Rollback}
		}
	}
	return []handleWithSnapshot{
		{"REPEATABLE READ", tx(sql.LevelRepeatableRead)},
		{"READ COMMITTED", tx(sql.LevelReadCommitted)},
		{"begun by hand", func(t *testing.T, db *sql.DB) rig.Handle {
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			run := func(statement string) func() error {
				return func() error {
					_, err := conn.ExecContext(context.WithoutCancel(t.Context()), statement)
					return errors.Join(err, conn.Close())
				}
			}
			if _, err := conn.ExecContext(t.Context(), "START TRANSACTION"); err != nil {
				t.Fatal(err)
			}
			return rig.Handle{Db: conn, Commit: run("COMMIT"), Rollback: run("ROLLBACK")}
		}},
	}
}

func TestWhatChangedAfterTheTransactionsSnapshotIsFound(t *testing.T) {
	t.Parallel()
	e := rig.Order("42")
	job := func(due string, policy prescient.OnPending) prescient.NewJob {
		return prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At(due), OnPending: policy}
	}
	// What somebody else commits after this transaction's first look.
	meanwhile := []struct {
		name    string
		pending bool // before
		slot    string
		do      func(r *testRig, db prescient.DB) error
	}{
		{"inserted", false, "16:00", func(r *testRig, db prescient.DB) error {
			_, err := r.client.Insert(r.T.Context(), db, job("16:00", ""))
			return err
		}},
		{"moved", true, "16:00", func(r *testRig, db prescient.DB) error {
			_, err := r.client.Reschedule(r.T.Context(), db, e, "ship", "", rig.At("16:00"))
			return err
		}},
		{"replaced", true, "16:00", func(r *testRig, db prescient.DB) error {
			_, err := r.client.Insert(r.T.Context(), db, job("16:00", prescient.Replace))
			return err
		}},
		{"rolled forward", true, "16:00", func(r *testRig, db prescient.DB) error {
			_, err := db.ExecContext(r.T.Context(), "UPDATE p_future_job SET next_check_at = '2026-11-20 16:00:00', revision = revision + 1")
			return err
		}},
		{"cancelled and inserted anew", true, "13:15", func(r *testRig, db prescient.DB) error {
			_, err := r.client.Cancel(r.T.Context(), db, e)
			if err == nil {
				_, err = r.client.Insert(r.T.Context(), db, job("13:15", ""))
			}
			return err
		}},
		{"cancelled", true, "", func(r *testRig, db prescient.DB) error {
			_, err := r.client.Cancel(r.T.Context(), db, e)
			return err
		}},
	}
	insert := func(policy prescient.OnPending, due string) func(*testRig, prescient.DB) (string, error) {
		return func(r *testRig, db prescient.DB) (string, error) {
			did, err := r.client.Insert(r.T.Context(), db, job(due, policy))
			return fmt.Sprintf("%s %s", did.Did, did.Slot.Format("15:04")), err
		}
	}
	// What this transaction does then: what comes of it and which slot is pending in the end, with a row and without.
	// "=" stands for the slot of the row.
	ops := []struct {
		name                   string
		do                     func(*testRig, prescient.DB) (string, error)
		found, foundSlot       string
		foundErr               error
		notFound, notFoundSlot string
		notFoundErr            error
	}{
		{"Cancel", func(r *testRig, db prescient.DB) (string, error) {
			n, err := r.client.Cancel(r.T.Context(), db, e)
			return fmt.Sprint(n), err
		}, "1", "", nil, "0", "", nil},
		{"Cancel of a job_exec", func(r *testRig, db prescient.DB) (string, error) {
			n, err := r.client.Cancel(r.T.Context(), db, e, "ship")
			return fmt.Sprint(n), err
		}, "1", "", nil, "0", "", nil},
		{"Reschedule", func(r *testRig, db prescient.DB) (string, error) {
			did, err := r.client.Reschedule(r.T.Context(), db, e, "ship", "", rig.At("18:00"))
			return string(did.Did), err
		}, "rescheduled", "18:00", nil, "", "", prescient.ErrNotFound},
		{"RescheduleMany", func(r *testRig, db prescient.DB) (string, error) {
			did, err := r.client.RescheduleMany(r.T.Context(), db, []NewTime{{Entity: e, JobExec: "ship", DueAt: rig.At("18:00")}})
			if err != nil {
				return "", err
			}
			return string(did[0].Did), nil
		}, "rescheduled", "18:00", nil, "", "", prescient.ErrNotFound},
		{"keep", insert(prescient.Keep, "18:00"), "kept =", "=", nil, "inserted 18:00", "18:00", nil},
		{"replace", insert(prescient.Replace, "18:00"), "replaced 18:00", "18:00", nil, "inserted 18:00", "18:00", nil},
		{"earlier", insert(prescient.Earlier, "12:00"), "replaced 12:00", "12:00", nil, "inserted 12:00", "12:00", nil},
		{"not earlier", insert(prescient.Earlier, "18:00"), "kept =", "=", nil, "inserted 18:00", "18:00", nil},
		{"later", insert(prescient.Later, "18:00"), "replaced 18:00", "18:00", nil, "inserted 18:00", "18:00", nil},
		{"not later", insert(prescient.Later, "12:00"), "kept =", "=", nil, "inserted 12:00", "12:00", nil},
		{"error", insert(prescient.OnPendingError, "18:00"), "kept =", "=", prescient.ErrPending, "inserted 18:00", "18:00", nil},
		{"InsertMany", func(r *testRig, db prescient.DB) (string, error) {
			did, err := r.client.InsertMany(r.T.Context(), db, append(manyJobs(3), job("18:00", prescient.Keep)))
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s %s", did[3].Did, did[3].Slot.Format("15:04")), nil
		}, "kept =", "=", nil, "inserted 18:00", "18:00", nil},
	}
	eachServer(t, func(t *testing.T, r *testRig) {
		app, others := r.AppAt(rig.At("10:00")), r.AppAt(rig.At("10:00"))
		refuses := r.Refuses(app)
		for _, isolation := range snapshots() {
			for _, m := range meanwhile {
				for _, op := range ops {
					name := isolation.name + ": " + op.name + " of a row that was " + m.name
					r.Clear()
					if m.pending {
						_, err := r.client.Insert(t.Context(), others, job("13:05", ""))
						r.Must(err)
					}
					h := isolation.open(t, app)
					var n int
					r.Must(store.QueryRow(t.Context(), h.Db, []any{&n}, "SELECT COUNT(*) FROM p_slot_config"))
					r.Must(m.do(r, others))
					said, err := op.do(r, h.Db)
					if errno.Is(err, errno.CheckRead) && refuses && isolation.name != "READ COMMITTED" {
						r.Must(h.Rollback())
						h = isolation.open(t, app)
						said, err = op.do(r, h.Db)
					}
					r.Must(h.Commit())

					want, wantSlot, wanted := op.found, op.foundSlot, op.foundErr
					if m.slot == "" {
						want, wantSlot, wanted = op.notFound, op.notFoundSlot, op.notFoundErr
					}
					want, wantSlot = strings.Replace(want, "=", m.slot, 1), strings.Replace(wantSlot, "=", m.slot, 1)
					if said != want || !errors.Is(err, wanted) {
						t.Errorf("%s: %q, %v; want %q, %v", name, said, err, want, wanted)
					}
					left, err := r.client.Get(t.Context(), r.App, e, "ship", "")
					slot := left.NextCheckAt.Format("15:04")
					if errors.Is(err, prescient.ErrNotFound) {
						slot = ""
					}
					if slot != wantSlot {
						t.Errorf("%s: pending in the end: %q; want %q", name, slot, wantSlot)
					}
				}
			}
		}
	})
}

// A keep that is told of a row holds it until its transaction ends, so that a cancel cannot slip in between.
func TestAKeptJobCannotBeCancelledBeforeTheKeepersCommit(t *testing.T) {
	t.Parallel()
	e := rig.Order("42")
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, isolation := range snapshots() {
			r.Clear()
			r.insert(rig.At("10:00"), prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("12:00")})
			h := isolation.open(t, r.AppAt(rig.At("10:00")))
			did, err := r.client.Insert(t.Context(), h.Db, prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("13:00")})
			if err != nil || did.Did != DidKeep {
				t.Fatalf("%s: %+v, %v", isolation.name, did, err)
			}
			cancelled := make(chan int, 1)
			go func() {
				n, err := r.client.Cancel(t.Context(), r.App, e)
				if err != nil {
					t.Error(err)
				}
				cancelled <- n
			}()
			if r.Server == text.Vitess { // which reads first what it is to insert
				r.WaitForLock("SELECT job.entity_name")
			} else {
				r.WaitForLock("INSERT INTO p_job_history")
			}
			r.Must(h.Commit())
			if n := <-cancelled; n != 1 {
				t.Errorf("%s: cancelled %d afterwards; want 1", isolation.name, n)
			}
		}
	})
}

func TestAnInsertWaitsForAnotherInsertOfTheSameJob(t *testing.T) {
	t.Parallel()
	e := rig.Order("42")
	eachServer(t, func(t *testing.T, r *testRig) {
		app := r.AppAt(rig.At("10:00"))
		refuses := r.Refuses(app)
		for _, commits := range []bool{true, false} {
			for _, policy := range []prescient.OnPending{prescient.Keep, prescient.Replace, prescient.OnPendingError} {
				rig.EachHandle(t, app, func(h rig.Handle) {
					r.Clear()
					first := rig.Begin(t, app, sql.LevelDefault)
					_, err := r.client.Insert(t.Context(), first, prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("12:00")})
					r.Must(err)
					ended := make(chan error, 1)
					go func() {
						r.WaitForLock("INSERT")
						if commits {
							ended <- first.Commit()
						} else {
							ended <- first.Rollback()
						}
					}()
					insert := func(db prescient.DB) (Inserted, error) {
						return r.client.Insert(t.Context(), db, prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("13:00"), OnPending: policy})
					}
					did, err := insert(h.Db)
					r.Must(<-ended)
					if errno.Is(err, errno.CheckRead) && refuses && h.Rollback != nil {
						r.Must(h.Rollback())
						again := rig.Begin(t, app, sql.LevelDefault)
						did, err = insert(again)
						r.Must(again.Commit())
					} else {
						h.Done(t)
					}
					want, slot := DidInsert, rig.At("13:00")
					switch {
					case commits && policy == prescient.Keep:
						want, slot = DidKeep, rig.At("12:00")
					case commits && policy == prescient.Replace:
						want = DidReplace
					case commits:
						want, slot = DidKeep, rig.At("12:00")
						rig.WantErr(t, h.Name, err, prescient.ErrPending)
						err = nil
					}
					if err != nil || did.Did != want || !did.Slot.Equal(slot) {
						t.Errorf("%s, %s, first commits: %t: %+v, %v; want %s", h.Name, policy, commits, did, err, want)
					}
					if got := r.one(); !got.NextCheckAt.Equal(slot) {
						t.Errorf("%s, %s, first commits: %t: pending: %+v", h.Name, policy, commits, got)
					}
				})
			}
		}
	})
}

func TestARefusedOperationLeavesTheTransactionUsable(t *testing.T) {
	t.Parallel()
	e := rig.Order("42")
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Exec("CREATE TABLE domain (n INT)")
		r.Also("app-reschedule", "INSERT", "domain")
		rig.EachTx(t, r.AppAt(rig.At("10:00")), func(h rig.Handle) {
			r.Clear()
			r.insert(rig.At("10:00"), prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("12:00")})
			_, err := h.Db.ExecContext(t.Context(), "INSERT INTO domain (n) VALUES (1)") // the domain event
			r.Must(err)
			job := prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("13:00"), OnPending: prescient.OnPendingError}
			_, err = r.client.Insert(t.Context(), h.Db, job)
			rig.WantErr(t, "Insert", err, prescient.ErrPending)
			_, err = r.client.InsertMany(t.Context(), h.Db, append(manyJobs(3), job))
			rig.WantErr(t, "InsertMany", err, prescient.ErrPending)
			_, err = r.client.Insert(t.Context(), h.Db, prescient.NewJob{Entity: e, JobExec: "pay", DueAt: rig.At("13:00").AddDate(1, 0, 0)})
			rig.WantErr(t, "Insert", err, prescient.ErrBeyondHorizon)
			_, err = r.client.Reschedule(t.Context(), h.Db, e, "pay", "", rig.At("13:00"))
			rig.WantErr(t, "Reschedule", err, prescient.ErrNotFound)
			_, err = r.client.Insert(t.Context(), h.Db, prescient.NewJob{Entity: e, JobExec: "pay", DueAt: rig.At("13:00")})
			r.Must(err)
			h.Done(t)
			if rows := r.pending(); len(rows) != 2 || rows[1].JobExec != "pay" {
				t.Errorf("%s: pending: %+v", h.Name, rows)
			}
			if n := r.Count("SELECT COUNT(*) FROM domain"); n != 1 {
				t.Errorf("%s: what the caller did is gone", h.Name)
			}
			r.Exec("DELETE FROM domain")
		})
	})
}
