package prescient

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

func TestCancelEndsWhatIsPendingForTheEntityAndNothingElse(t *testing.T) {
	e := order("42")
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		app, early := r.appAt(at("11:00")), r.appAt(at("08:00"))
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
			eachHandle(t, app, func(h handle) {
				r.clear()
				for _, job := range []NewJob{
					{Entity: e, JobExec: "ship"}, {Entity: e, JobExec: "ship", Tag: "a"}, {Entity: e, JobExec: "pay"},
					{Entity: order("43"), JobExec: "ship"}, {Entity: Entity{"orde", "r42"}, JobExec: "ship"}, {Entity: order("42 "), JobExec: "ship"},
				} {
					job.DueAt = at("12:00")
					r.put(early, job)
				}
				r.put(early, NewJob{Entity: e, JobExec: "ship", Tag: "begun", DueAt: at("09:00")})
				// A neighbour whose entity has the same hash.
				r.exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, job_key) VALUES ('invoice', '42', 'ship', '2026-11-20 12:00:00', ?)`,
					keyBytes(KeyOf(e, "near", "")))

				n, err := r.client.Cancel(t.Context(), h.db, e, tt.execs...)
				r.must(err)
				h.done(t)
				var ended []string
				for _, end := range r.history() {
					if end.Entity() != e || end.Outcome != Cancelled {
						t.Errorf("%s: Cancel(%q) ended %+v", h.name, tt.execs, end)
					}
					ended = append(ended, end.JobExec+" "+end.Tag)
				}
				slices.Sort(ended)
				if left := r.count(countPending); n != len(ended) || !slices.Equal(ended, tt.want) || left != 8-n {
					t.Errorf("%s: Cancel(%q) = %d, ended %q, left %d; want %q", h.name, tt.execs, n, ended, left, tt.want)
				}
			})
		}
	})
}

func TestCancelOfNothingIsNoError(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		eachHandle(t, r.app, func(h handle) {
			if n, err := r.client.Cancel(t.Context(), h.db, order("42")); n != 0 || err != nil {
				t.Errorf("%s: %d, %v", h.name, n, err)
			}
			if n, err := r.client.Cancel(t.Context(), h.db, order("42"), "ship"); n != 0 || err != nil {
				t.Errorf("%s: %d, %v", h.name, n, err)
			}
			h.done(t)
		})
		r.none()
	})
}

func TestACancelledJobIsInHistoryAsItWas(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		e := order("42")
		for _, payload := range []json.RawMessage{nil, json.RawMessage(`{"a": "it's \\ é"}`)} {
			eachHandle(t, r.appAt(at("12:34:56.789012")), func(h handle) {
				r.clear()
				r.insert(at("10:00:00.000001"), NewJob{Entity: e, JobExec: "ship", Tag: "tag'", DueAt: at("12:00:00.5"), Payload: payload})
				_, err := r.client.Reschedule(t.Context(), r.appAt(at("10:01")), e, "ship", "tag'", at("13:00:00.000002"))
				r.must(err)
				r.exec(`UPDATE p_future_job SET check_count = 3, error_count = 2, put_off_count = 1, last_error = 'it''s "late"\n\\ é', total_ms = 5000000000`)
				job := r.one()
				if n, err := r.client.Cancel(t.Context(), h.db, e); n != 1 || err != nil {
					t.Fatalf("%s: cancelled %d, %v", h.name, n, err)
				}
				h.done(t)
				ends := r.history()
				if len(ends) != 1 || len(r.pending()) != 0 {
					t.Fatalf("%s: ends: %+v", h.name, ends)
				}
				want := Ended{FutureJob: job, Slot: at("13:15"), Outcome: Cancelled, EndedAt: at("12:34:56.789012")}
				if !reflect.DeepEqual(ends[0], want) {
					t.Errorf("%s: in history:\n%+v; want\n%+v", h.name, ends[0], want)
				}
				var same int
				r.must(r.root.QueryRow("SELECT job_key = ? FROM p_job_history", keyBytes(job.Key())).Scan(&same))
				if same != 1 {
					t.Errorf("%s: job_key in history differs", h.name)
				}
			})
		}
	})
}

// Without its end in history a row would be lost.
func TestACancelThatFailsHalfwayLeavesEveryRow(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		eachHandle(t, r.appAt(at("11:00")), func(h handle) {
			r.clear()
			for _, exec := range []string{"ship", "pay"} {
				r.insert(at("10:00"), NewJob{Entity: order("42"), JobExec: exec, DueAt: at("12:00")})
			}
			before := r.pending()
			// The end of the second row is there already, by the key of job_history.
			r.exec(`INSERT INTO p_job_history SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
				check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
				next_check_at, 'done', NULL, NULL, '2026-11-20 11:00:00', 0, NULL, '' FROM p_future_job WHERE job_key = ?`, keyBytes(before[1].Key()))
			if h.commit != nil {
				_, err := r.client.Insert(t.Context(), h.db, NewJob{Entity: order("43"), JobExec: "ship", DueAt: at("13:00")})
				r.must(err)
			}
			n, err := r.client.Cancel(t.Context(), h.db, order("42"))
			if n != 0 || !isError(err, errDuplicateKey) {
				t.Fatalf("%s: cancelled %d, %v; want the server's error", h.name, n, err)
			}
			h.done(t)
			after := r.pending()
			if h.commit != nil {
				if len(after) != 3 || after[2].EntityKey != "43" {
					t.Fatalf("%s: what the caller did before is gone: %+v", h.name, after)
				}
				after = after[:2]
			}
			if !reflect.DeepEqual(after, before) || len(r.history()) != 1 {
				t.Errorf("%s: pending is\n%+v; want\n%+v", h.name, after, before)
			}
		})
	})
}

func TestRescheduleMovesAPendingJobAndKeepsTheRest(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		e := order("42")
		early := r.appAt(at("10:00"))
		for _, tt := range []struct{ now, due, slot string }{
			{"10:00", "14:00:00.000001", "14:15"},
			{"10:00", "13:05", "13:15"}, // where it was
			{"10:00", "10:01", "10:15"},
			{"10:00", "09:00", "10:15"}, // over
			{"13:15", "14:00", "14:00"}, // its slot has begun
			{"18:00", "12:00", "18:15"}, // so that it comes again
			{"18:00", "18:15", "18:15"},
		} {
			eachHandle(t, r.appAt(at(tt.now)), func(h handle) {
				r.clear()
				r.put(early, NewJob{Entity: e, JobExec: "ship", Tag: "a", DueAt: at("13:05"), Payload: json.RawMessage(`"first"`)})
				r.put(early, NewJob{Entity: e, JobExec: "ship", DueAt: at("23:05")})
				r.exec(`UPDATE p_future_job SET check_count = 3, error_count = 2, put_off_count = 1, last_error = 'late', total_ms = 99 WHERE tag = 'a'`)
				before := r.rows()
				did, err := r.client.Reschedule(t.Context(), h.db, e, "ship", "a", at(tt.due))
				h.done(t)
				if err != nil || did != (Inserted{DidReschedule, at(tt.due), at(tt.slot)}) {
					t.Errorf("%s: at %s to %s: %+v, %v", h.name, tt.now, tt.due, did, err)
				}
				after := r.rows()
				moved := slices.IndexFunc(before, func(job FutureJob) bool { return job.Tag == "a" })
				want := slices.Clone(before)
				want[moved].DueAt, want[moved].NextCheckAt, want[moved].Revision = at(tt.due), at(tt.slot), after[moved].Revision
				if after[moved].Revision == before[moved].Revision || !reflect.DeepEqual(after, want) {
					t.Errorf("%s: at %s to %s: pending is\n%+v; was\n%+v", h.name, tt.now, tt.due, after, before)
				}
			})
		}
		if len(r.history()) != 0 {
			t.Error("a reschedule is no end")
		}
	})
}

func TestRescheduleAndGetOfNothingAreErrors(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.insert(at("10:00"), NewJob{Entity: order("42"), JobExec: "ship", Tag: "a", DueAt: at("13:05")})
		before := r.one()
		eachHandle(t, r.appAt(at("10:00")), func(h handle) {
			for _, tt := range []struct {
				e         Entity
				exec, tag string
			}{
				{order("42"), "ship", ""}, {order("42"), "ship", "A"}, {order("42"), "pay", "a"}, {order("43"), "ship", "a"}, {Entity{"Order", "42"}, "ship", "a"},
			} {
				_, err := r.client.Reschedule(t.Context(), h.db, tt.e, tt.exec, tt.tag, at("14:00"))
				wantErr(t, "Reschedule", err, ErrNotFound)
				_, err = r.client.Get(t.Context(), h.db, tt.e, tt.exec, tt.tag)
				wantErr(t, "Get", err, ErrNotFound)
			}
			h.done(t)
		})
		if got := r.one(); !reflect.DeepEqual(got, before) {
			t.Errorf("pending is\n%+v; want\n%+v", got, before)
		}
	})
}

// A *sql.Conn can begin a transaction, so that a client takes one of its own where it needs one; not inside one that was
// begun by hand, since that would commit it behind the caller's back.
func TestATransactionBegunByHandIsTheCallers(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		conn, err := r.appAt(at("10:00")).Conn(t.Context())
		r.must(err)
		defer conn.Close()
		for _, end := range []string{"ROLLBACK", "COMMIT"} {
			_, err = conn.ExecContext(t.Context(), "START TRANSACTION")
			r.must(err)
			_, err := r.client.InsertMany(t.Context(), conn, manyJobs(3))
			r.must(err)
			_, err = r.client.Insert(t.Context(), conn, NewJob{Entity: order("42"), JobExec: "ship", DueAt: at("12:00")})
			r.must(err)
			if n, err := r.client.Cancel(t.Context(), conn, order("1")); n != 1 || err != nil {
				t.Errorf("cancelled %d, %v", n, err)
			}
			r.none()
			_, err = conn.ExecContext(t.Context(), end)
			r.must(err)
		}
		if pending, ended := len(r.pending()), len(r.history()); pending != 3 || ended != 1 {
			t.Errorf("%d pending, %d ended; want 3 and 1", pending, ended)
		}
	})
}
