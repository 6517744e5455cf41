package prescient

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// handleWithSnapshot is a way to be in a transaction that sees the tables as they were at its first look.
type handleWithSnapshot struct {
	name string
	open func(t *testing.T, db *sql.DB) handle
}

func snapshots() []handleWithSnapshot {
	tx := func(level sql.IsolationLevel) func(*testing.T, *sql.DB) handle {
		return func(t *testing.T, db *sql.DB) handle {
			tx := begin(t, db, level)
			return handle{name: level.String(), db: tx, commit: tx.Commit, rollback: tx.Rollback}
		}
	}
	return []handleWithSnapshot{
		{"REPEATABLE READ", tx(sql.LevelRepeatableRead)},
		{"READ COMMITTED", tx(sql.LevelReadCommitted)},
		{"begun by hand", func(t *testing.T, db *sql.DB) handle {
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
			return handle{db: conn, commit: run("COMMIT"), rollback: run("ROLLBACK")}
		}},
	}
}

func TestWhatChangedAfterTheTransactionsSnapshotIsFound(t *testing.T) {
	e := order("42")
	job := func(due string, policy OnPending) NewJob {
		return NewJob{Entity: e, JobExec: "ship", DueAt: at(due), OnPending: policy}
	}
	// What somebody else commits after this transaction's first look.
	meanwhile := []struct {
		name    string
		pending bool // before
		slot    string
		do      func(r *rig, db DB) error
	}{
		{"inserted", false, "16:00", func(r *rig, db DB) error {
			_, err := r.client.Insert(r.t.Context(), db, job("16:00", ""))
			return err
		}},
		{"moved", true, "16:00", func(r *rig, db DB) error {
			_, err := r.client.Reschedule(r.t.Context(), db, e, "ship", "", at("16:00"))
			return err
		}},
		{"replaced", true, "16:00", func(r *rig, db DB) error {
			_, err := r.client.Insert(r.t.Context(), db, job("16:00", Replace))
			return err
		}},
		{"rolled forward", true, "16:00", func(r *rig, db DB) error {
			_, err := db.ExecContext(r.t.Context(), "UPDATE p_future_job SET next_check_at = '2026-11-20 16:00:00', revision = revision + 1")
			return err
		}},
		{"cancelled and inserted anew", true, "13:15", func(r *rig, db DB) error {
			_, err := r.client.Cancel(r.t.Context(), db, e)
			if err == nil {
				_, err = r.client.Insert(r.t.Context(), db, job("13:15", ""))
			}
			return err
		}},
		{"cancelled", true, "", func(r *rig, db DB) error {
			_, err := r.client.Cancel(r.t.Context(), db, e)
			return err
		}},
	}
	insert := func(policy OnPending, due string) func(*rig, DB) (string, error) {
		return func(r *rig, db DB) (string, error) {
			did, err := r.client.Insert(r.t.Context(), db, job(due, policy))
			return fmt.Sprintf("%s %s", did.Did, did.Slot.Format("15:04")), err
		}
	}
	// What this transaction does then: what comes of it and which slot is pending in the end, with a row and without.
	// "=" stands for the slot of the row.
	ops := []struct {
		name                   string
		do                     func(*rig, DB) (string, error)
		found, foundSlot       string
		foundErr               error
		notFound, notFoundSlot string
		notFoundErr            error
	}{
		{"Cancel", func(r *rig, db DB) (string, error) {
			n, err := r.client.Cancel(r.t.Context(), db, e)
			return fmt.Sprint(n), err
		}, "1", "", nil, "0", "", nil},
		{"Cancel of a job_exec", func(r *rig, db DB) (string, error) {
			n, err := r.client.Cancel(r.t.Context(), db, e, "ship")
			return fmt.Sprint(n), err
		}, "1", "", nil, "0", "", nil},
		{"Reschedule", func(r *rig, db DB) (string, error) {
			did, err := r.client.Reschedule(r.t.Context(), db, e, "ship", "", at("18:00"))
			return string(did.Did), err
		}, "rescheduled", "18:00", nil, "", "", ErrNotFound},
		{"keep", insert(Keep, "18:00"), "kept =", "=", nil, "inserted 18:00", "18:00", nil},
		{"replace", insert(Replace, "18:00"), "replaced 18:00", "18:00", nil, "inserted 18:00", "18:00", nil},
		{"earlier", insert(Earlier, "12:00"), "replaced 12:00", "12:00", nil, "inserted 12:00", "12:00", nil},
		{"not earlier", insert(Earlier, "18:00"), "kept =", "=", nil, "inserted 18:00", "18:00", nil},
		{"later", insert(Later, "18:00"), "replaced 18:00", "18:00", nil, "inserted 18:00", "18:00", nil},
		{"not later", insert(Later, "12:00"), "kept =", "=", nil, "inserted 12:00", "12:00", nil},
		{"error", insert(OnPendingError, "18:00"), "kept =", "=", ErrPending, "inserted 18:00", "18:00", nil},
		{"InsertMany", func(r *rig, db DB) (string, error) {
			did, err := r.client.InsertMany(r.t.Context(), db, append(manyJobs(3), job("18:00", Keep)))
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s %s", did[3].Did, did[3].Slot.Format("15:04")), nil
		}, "kept =", "=", nil, "inserted 18:00", "18:00", nil},
	}
	eachServer(t, func(t *testing.T, r *rig) {
		app, others := r.appAt(at("10:00")), r.appAt(at("10:00"))
		refuses := r.refuses(app)
		for _, isolation := range snapshots() {
			for _, m := range meanwhile {
				for _, op := range ops {
					name := isolation.name + ": " + op.name + " of a row that was " + m.name
					r.clear()
					if m.pending {
						_, err := r.client.Insert(t.Context(), others, job("13:05", ""))
						r.must(err)
					}
					h := isolation.open(t, app)
					var n int
					r.must(queryRow(t.Context(), h.db, []any{&n}, "SELECT COUNT(*) FROM p_slot_config"))
					r.must(m.do(r, others))
					said, err := op.do(r, h.db)
					if isError(err, errCheckRead) && refuses && isolation.name != "READ COMMITTED" {
						r.must(h.rollback())
						h = isolation.open(t, app)
						said, err = op.do(r, h.db)
					}
					r.must(h.commit())

					want, wantSlot, wanted := op.found, op.foundSlot, op.foundErr
					if m.slot == "" {
						want, wantSlot, wanted = op.notFound, op.notFoundSlot, op.notFoundErr
					}
					want, wantSlot = strings.Replace(want, "=", m.slot, 1), strings.Replace(wantSlot, "=", m.slot, 1)
					if said != want || !errors.Is(err, wanted) {
						t.Errorf("%s: %q, %v; want %q, %v", name, said, err, want, wanted)
					}
					left, err := r.client.Get(t.Context(), r.app, e, "ship", "")
					slot := left.NextCheckAt.Format("15:04")
					if errors.Is(err, ErrNotFound) {
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
	e := order("42")
	eachServer(t, func(t *testing.T, r *rig) {
		for _, isolation := range snapshots() {
			r.clear()
			r.insert(at("10:00"), NewJob{Entity: e, JobExec: "ship", DueAt: at("12:00")})
			h := isolation.open(t, r.appAt(at("10:00")))
			did, err := r.client.Insert(t.Context(), h.db, NewJob{Entity: e, JobExec: "ship", DueAt: at("13:00")})
			if err != nil || did.Did != DidKeep {
				t.Fatalf("%s: %+v, %v", isolation.name, did, err)
			}
			cancelled := make(chan int, 1)
			go func() {
				n, err := r.client.Cancel(t.Context(), r.app, e)
				if err != nil {
					t.Error(err)
				}
				cancelled <- n
			}()
			r.waitForLock("INSERT INTO p_job_history")
			r.must(h.commit())
			if n := <-cancelled; n != 1 {
				t.Errorf("%s: cancelled %d afterwards; want 1", isolation.name, n)
			}
		}
	})
}

func TestAnInsertWaitsForAnotherInsertOfTheSameJob(t *testing.T) {
	e := order("42")
	eachServer(t, func(t *testing.T, r *rig) {
		app := r.appAt(at("10:00"))
		refuses := r.refuses(app)
		for _, commits := range []bool{true, false} {
			for _, policy := range []OnPending{Keep, Replace, OnPendingError} {
				eachHandle(t, app, func(h handle) {
					r.clear()
					first := begin(t, app, sql.LevelDefault)
					_, err := r.client.Insert(t.Context(), first, NewJob{Entity: e, JobExec: "ship", DueAt: at("12:00")})
					r.must(err)
					ended := make(chan error, 1)
					go func() {
						r.waitForLock("INSERT")
						if commits {
							ended <- first.Commit()
						} else {
							ended <- first.Rollback()
						}
					}()
					insert := func(db DB) (Inserted, error) {
						return r.client.Insert(t.Context(), db, NewJob{Entity: e, JobExec: "ship", DueAt: at("13:00"), OnPending: policy})
					}
					did, err := insert(h.db)
					r.must(<-ended)
					if isError(err, errCheckRead) && refuses && h.rollback != nil {
						r.must(h.rollback())
						again := begin(t, app, sql.LevelDefault)
						did, err = insert(again)
						r.must(again.Commit())
					} else {
						h.done(t)
					}
					want, slot := DidInsert, at("13:00")
					switch {
					case commits && policy == Keep:
						want, slot = DidKeep, at("12:00")
					case commits && policy == Replace:
						want = DidReplace
					case commits:
						want, slot = DidKeep, at("12:00")
						wantErr(t, h.name, err, ErrPending)
						err = nil
					}
					if err != nil || did.Did != want || !did.Slot.Equal(slot) {
						t.Errorf("%s, %s, first commits: %t: %+v, %v; want %s", h.name, policy, commits, did, err, want)
					}
					if got := r.one(); !got.NextCheckAt.Equal(slot) {
						t.Errorf("%s, %s, first commits: %t: pending: %+v", h.name, policy, commits, got)
					}
				})
			}
		}
	})
}

func TestARefusedOperationLeavesTheTransactionUsable(t *testing.T) {
	e := order("42")
	eachServer(t, func(t *testing.T, r *rig) {
		r.exec("CREATE TABLE domain (n INT)")
		r.also("app-reschedule", "INSERT", "domain")
		eachTx(t, r.appAt(at("10:00")), func(h handle) {
			r.clear()
			r.insert(at("10:00"), NewJob{Entity: e, JobExec: "ship", DueAt: at("12:00")})
			_, err := h.db.ExecContext(t.Context(), "INSERT INTO domain VALUES (1)") // the domain event
			r.must(err)
			job := NewJob{Entity: e, JobExec: "ship", DueAt: at("13:00"), OnPending: OnPendingError}
			_, err = r.client.Insert(t.Context(), h.db, job)
			wantErr(t, "Insert", err, ErrPending)
			_, err = r.client.InsertMany(t.Context(), h.db, append(manyJobs(3), job))
			wantErr(t, "InsertMany", err, ErrPending)
			_, err = r.client.Insert(t.Context(), h.db, NewJob{Entity: e, JobExec: "pay", DueAt: at("13:00").AddDate(1, 0, 0)})
			wantErr(t, "Insert", err, ErrBeyondHorizon)
			_, err = r.client.Reschedule(t.Context(), h.db, e, "pay", "", at("13:00"))
			wantErr(t, "Reschedule", err, ErrNotFound)
			_, err = r.client.Insert(t.Context(), h.db, NewJob{Entity: e, JobExec: "pay", DueAt: at("13:00")})
			r.must(err)
			h.done(t)
			if rows := r.pending(); len(rows) != 2 || rows[1].JobExec != "pay" {
				t.Errorf("%s: pending: %+v", h.name, rows)
			}
			if n := r.count("SELECT COUNT(*) FROM domain"); n != 1 {
				t.Errorf("%s: what the caller did is gone", h.name)
			}
			r.exec("DELETE FROM domain")
		})
	})
}
