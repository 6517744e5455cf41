package client

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
)

func TestCancelEndsWhatIsPendingForTheEntityAndNothingElse(t *testing.T) {
	t.Parallel()
	e := rig.Order("42")
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		app, early := r.AppAt(rig.At("11:00")), r.AppAt(rig.At("08:00"))
		for _, tt := range []struct {
			execs []string
			want  []string
		}{
			{nil, []string{"pay ", "ship ", "ship a", "ship begun"}},
			{[]string{"ship"}, []string{"ship ", "ship a", "ship begun"}},
			{[]string{"pay"}, []string{"pay "}},
			{[]string{"pay", "ship", "pay"}, []string{"pay ", "ship ", "ship a", "ship begun"}},
			{[]string{"Ship", "shi"}, nil},
		} {
			rig.EachHandle(t, app, func(h rig.Handle) {
				r.Clear()
				for _, job := range []prescient.NewJob{
					{Entity: e, JobExec: "ship"}, {Entity: e, JobExec: "ship", Tag: "a"}, {Entity: e, JobExec: "pay"},
					{Entity: rig.Order("43"), JobExec: "ship"}, {Entity: prescient.Entity{Name: "orde", Key: "r42"}, JobExec: "ship"}, {Entity: rig.Order("42 "), JobExec: "ship"},
				} {
					job.DueAt = rig.At("12:00")
					r.put(early, job)
				}
				r.put(early, prescient.NewJob{Entity: e, JobExec: "ship", Tag: "begun", DueAt: rig.At("09:00")})
				// A neighbour whose entity has the same hash.
				r.Exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, job_key) VALUES ('invoice', '42', 'ship', '2026-11-20 12:00:00', ?)`,
					rig.KeyBytes(prescient.KeyOf(e, "near", "")))

				n, err := r.client.Cancel(t.Context(), h.Db, e, tt.execs...)
				r.Must(err)
				h.Done(t)
				var ended []string
				for _, end := range r.history() {
					if end.Entity() != e || end.Outcome != prescient.Cancelled {
						t.Errorf("%s: Cancel(%q) ended %+v", h.Name, tt.execs, end)
					}
					ended = append(ended, end.JobExec+" "+end.Tag)
				}
				slices.Sort(ended)
				if left := r.Count(rig.CountPending); n != len(ended) || !slices.Equal(ended, tt.want) || left != 8-n {
					t.Errorf("%s: Cancel(%q) = %d, ended %q, left %d; want %q", h.Name, tt.execs, n, ended, left, tt.want)
				}
			})
		}
	})
}

func TestCancelOfNothingIsNoError(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		rig.EachHandle(t, r.App, func(h rig.Handle) {
			if n, err := r.client.Cancel(t.Context(), h.Db, rig.Order("42")); n != 0 || err != nil {
				t.Errorf("%s: %d, %v", h.Name, n, err)
			}
			if n, err := r.client.Cancel(t.Context(), h.Db, rig.Order("42"), "ship"); n != 0 || err != nil {
				t.Errorf("%s: %d, %v", h.Name, n, err)
			}
			h.Done(t)
		})
		r.none()
	})
}

func TestACancelledJobIsInHistoryAsItWas(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		e := rig.Order("42")
		for _, payload := range []json.RawMessage{nil, json.RawMessage(`{"a": "it's \\ é"}`)} {
			rig.EachHandle(t, r.AppAt(rig.At("12:34:56.789012")), func(h rig.Handle) {
				r.Clear()
				r.insert(rig.At("10:00:00.000001"), prescient.NewJob{Entity: e, JobExec: "ship", Tag: "tag'", DueAt: rig.At("12:00:00.5"), Payload: payload})
				_, err := r.client.Reschedule(t.Context(), r.AppAt(rig.At("10:01")), e, "ship", "tag'", rig.At("13:00:00.000002"))
				r.Must(err)
				r.Exec(`UPDATE p_future_job SET check_count = 3, error_count = 2, put_off_count = 1, last_error = 'it''s "late"\n\\ é', total_ms = 5000000000`)
				job := r.one()
				if n, err := r.client.Cancel(t.Context(), h.Db, e); n != 1 || err != nil {
					t.Fatalf("%s: cancelled %d, %v", h.Name, n, err)
				}
				h.Done(t)
				ends := r.history()
				if len(ends) != 1 || len(r.pending()) != 0 {
					t.Fatalf("%s: ends: %+v", h.Name, ends)
				}
				want := Ended{FutureJob: job, Slot: rig.At("13:15"), Outcome: prescient.Cancelled, EndedAt: rig.At("12:34:56.789012")}
				if !reflect.DeepEqual(ends[0], want) {
					t.Errorf("%s: in history:\n%+v; want\n%+v", h.Name, ends[0], want)
				}
				var same int
				r.Must(r.Root.QueryRow("SELECT job_key = ? FROM p_job_history", rig.KeyBytes(job.Key())).Scan(&same))
				if same != 1 {
					t.Errorf("%s: job_key in history differs", h.Name)
				}
			})
		}
	})
}

// Without its end in history a row would be lost.
func TestACancelThatFailsHalfwayLeavesEveryRow(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		rig.EachHandle(t, r.AppAt(rig.At("11:00")), func(h rig.Handle) {
			r.Clear()
			for _, exec := range []string{"ship", "pay"} {
				r.insert(rig.At("10:00"), prescient.NewJob{Entity: rig.Order("42"), JobExec: exec, DueAt: rig.At("12:00")})
			}
			before := r.pending()
			// The end of the second row is there already, by the key of job_history.
			r.Exec(`INSERT INTO p_job_history SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
				check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
				next_check_at, 'done', NULL, NULL, '2026-11-20 11:00:00', 0, NULL, '', NULL FROM p_future_job WHERE job_key = ?`, rig.KeyBytes(before[1].Key()))
			if h.Commit != nil {
				_, err := r.client.Insert(t.Context(), h.Db, prescient.NewJob{Entity: rig.Order("43"), JobExec: "ship", DueAt: rig.At("13:00")})
				r.Must(err)
			}
			n, err := r.client.Cancel(t.Context(), h.Db, rig.Order("42"))
			if n != 0 || !errno.Is(err, errno.DuplicateKey) {
				t.Fatalf("%s: cancelled %d, %v; want the server's error", h.Name, n, err)
			}
			h.Done(t)
			after := r.pending()
			if h.Commit != nil {
				if len(after) != 3 || after[2].EntityKey != "43" {
					t.Fatalf("%s: what the caller did before is gone: %+v", h.Name, after)
				}
				after = after[:2]
			}
			if !reflect.DeepEqual(after, before) || len(r.history()) != 1 {
				t.Errorf("%s: pending is\n%+v; want\n%+v", h.Name, after, before)
			}
		})
	})
}

func TestRescheduleMovesAPendingJobAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		e := rig.Order("42")
		early := r.AppAt(rig.At("10:00"))
		for _, tt := range []struct{ now, due, slot string }{
			{"10:00", "14:00:00.000001", "14:15"},
			{"10:00", "13:05", "13:15"}, // where it was
			{"10:00", "10:01", "10:15"},
			{"10:00", "09:00", "10:15"}, // over
			{"13:15", "14:00", "14:00"}, // its slot has begun
			{"18:00", "12:00", "18:15"}, // so that it comes again
			{"18:00", "18:15", "18:15"},
		} {
			rig.EachHandle(t, r.AppAt(rig.At(tt.now)), func(h rig.Handle) {
				r.Clear()
				r.put(early, prescient.NewJob{Entity: e, JobExec: "ship", Tag: "a", DueAt: rig.At("13:05"), Payload: json.RawMessage(`"first"`)})
				r.put(early, prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("23:05")})
				r.Exec(`UPDATE p_future_job SET check_count = 3, error_count = 2, put_off_count = 1, last_error = 'late', total_ms = 99 WHERE tag = 'a'`)
				before := r.rows()
				did, err := r.client.Reschedule(t.Context(), h.Db, e, "ship", "a", rig.At(tt.due))
				h.Done(t)
				if err != nil || did != (Inserted{Did: DidReschedule, DueAt: rig.At(tt.due), Slot: rig.At(tt.slot)}) {
					t.Errorf("%s: at %s to %s: %+v, %v", h.Name, tt.now, tt.due, did, err)
				}
				after := r.rows()
				moved := slices.IndexFunc(before, func(job prescient.FutureJob) bool { return job.Tag == "a" })
				want := slices.Clone(before)
				want[moved].DueAt, want[moved].NextCheckAt, want[moved].Revision = rig.At(tt.due), rig.At(tt.slot), after[moved].Revision
				if after[moved].Revision == before[moved].Revision || !reflect.DeepEqual(after, want) {
					t.Errorf("%s: at %s to %s: pending is\n%+v; was\n%+v", h.Name, tt.now, tt.due, after, before)
				}
			})
		}
		if len(r.history()) != 0 {
			t.Error("a reschedule is no end")
		}
	})
}

func TestRescheduleAndGetOfNothingAreErrors(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.insert(rig.At("10:00"), prescient.NewJob{Entity: rig.Order("42"), JobExec: "ship", Tag: "a", DueAt: rig.At("13:05")})
		before := r.one()
		rig.EachHandle(t, r.AppAt(rig.At("10:00")), func(h rig.Handle) {
			for _, tt := range []struct {
				e         prescient.Entity
				exec, tag string
			}{
				{rig.Order("42"), "ship", ""}, {rig.Order("42"), "ship", "A"}, {rig.Order("42"), "pay", "a"}, {rig.Order("43"), "ship", "a"}, {prescient.Entity{Name: "Order", Key: "42"}, "ship", "a"},
			} {
				_, err := r.client.Reschedule(t.Context(), h.Db, tt.e, tt.exec, tt.tag, rig.At("14:00"))
				rig.WantErr(t, "Reschedule", err, prescient.ErrNotFound)
				_, err = r.client.Get(t.Context(), h.Db, tt.e, tt.exec, tt.tag)
				rig.WantErr(t, "Get", err, prescient.ErrNotFound)
			}
			h.Done(t)
		})
		if got := r.one(); !reflect.DeepEqual(got, before) {
			t.Errorf("pending is\n%+v; want\n%+v", got, before)
		}
	})
}

// A *sql.Conn can begin a transaction, so that a client takes one of its own where it needs one; not inside one that was
// begun by hand, since that would commit it behind the caller's back.
func TestATransactionBegunByHandIsTheCallers(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		conn, err := r.AppAt(rig.At("10:00")).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		for _, end := range []string{"ROLLBACK", "COMMIT"} {
			_, err = conn.ExecContext(t.Context(), "START TRANSACTION")
			r.Must(err)
			_, err := r.client.InsertMany(t.Context(), conn, manyJobs(3))
			r.Must(err)
			_, err = r.client.Insert(t.Context(), conn, prescient.NewJob{Entity: rig.Order("42"), JobExec: "ship", DueAt: rig.At("12:00")})
			r.Must(err)
			if n, err := r.client.Cancel(t.Context(), conn, rig.Order("1")); n != 1 || err != nil {
				t.Errorf("cancelled %d, %v", n, err)
			}
			r.none()
			_, err = conn.ExecContext(t.Context(), end)
			r.Must(err)
		}
		if pending, ended := len(r.pending()), len(r.history()); pending != 3 || ended != 1 {
			t.Errorf("%d pending, %d ended; want 3 and 1", pending, ended)
		}
	})
}

// However many checks of an entity are pending, a cancel of them takes as many statements as that of one, and by the procedure two
// round trips at most.
func TestACancelOfAllChecksTakesNoMoreStatementsThanThatOfOne(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		var h rig.Hooks
		db := r.HookedAs("app", rig.At("10:00"), &h)
		byCall := func(db prescient.DB) (int, error) { return r.client.Cancel(t.Context(), db, rig.Order("42")) }
		byStatements := func(db prescient.DB) (int, error) {
			return r.client.cancelByStatements(t.Context(), db, []prescient.Entity{rig.Order("42")}, nil)
		}
		for name, c := range map[string]struct {
			tx     bool
			cancel func(db prescient.DB) (int, error)
			most   int
		}{
			"on a pool":                       {false, byCall, 2},
			"in a transaction":                {true, byCall, 1},
			"by statements, on a pool":        {false, byStatements, 6},
			"by statements, in a transaction": {true, byStatements, 7},
		} {
			for _, checks := range []int{1, 7} {
				for i := range checks {
					r.put(r.AppAt(rig.At("10:00")), prescient.NewJob{Entity: rig.Order("42"), JobExec: fmt.Sprint("check", i), DueAt: rig.At("13:05")})
				}
				var on prescient.DB = db
				if c.tx {
					on = rig.Begin(t, db.DB, sql.LevelReadCommitted)
				}
				before := h.Count("")
				n, err := c.cancel(on)
				if took := h.Count("") - before; err != nil || n != checks || took > c.most {
					t.Errorf("%s: cancelled %d of %d, %v, by %d statements; want %d at most", name, n, checks, err, took, c.most)
				}
				if tx, is := on.(*sql.Tx); is {
					r.Must(tx.Commit())
				}
			}
		}
	})
}
