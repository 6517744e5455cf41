package prescient

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// manyJobs are new jobs, due one after the other.
func manyJobs(n int) []NewJob {
	jobs := make([]NewJob, n)
	for i := range jobs {
		jobs[i] = NewJob{Entity: order(fmt.Sprint(i)), JobExec: "ship", DueAt: at("11:00").Add(time.Duration(i) * time.Second)}
	}
	return jobs
}

func TestInsertManyInsertsThousands(t *testing.T) {
	const n = 5000
	eachServer(t, func(t *testing.T, r *rig) {
		app := r.appAt(at("10:00"))
		tx := begin(t, app, 0)
		for _, h := range []handle{{name: "DB", db: app}, {name: "Tx", db: tx, commit: tx.Commit}} {
			r.clear()
			for _, want := range []InsertAction{DidInsert, DidKeep} {
				if h.name == "Tx" && want == DidKeep {
					continue // holds each row, which takes its time
				}
				did, err := r.client.InsertMany(t.Context(), h.db, manyJobs(n))
				r.must(err)
				if len(did) != n {
					t.Fatalf("%s: %d results; want %d", h.name, len(did), n)
				}
				for i, d := range did {
					due := at("11:00").Add(time.Duration(i) * time.Second)
					if d != (Inserted{want, due, r.client.grid.Ceil(due)}) {
						t.Fatalf("%s: job %d: %+v; want %s, due %s", h.name, i+1, d, want, due)
					}
				}
			}
			h.done(t)
			if got := r.count(countPending); got != n {
				t.Errorf("%s: %d rows; want %d", h.name, got, n)
			}
		}
		job, err := r.client.Get(t.Context(), app, order("4999"), "ship", "")
		if err != nil || !job.NextCheckAt.Equal(at("12:30")) || !job.FirstCheckAt.Equal(at("12:30")) {
			t.Errorf("the last: %+v, %v", job, err)
		}
	})
}

func TestInsertManySettlesEachJobByItsPolicyInTheOrderOfTheList(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		early := r.appAt(at("08:00"))
		eachHandle(t, r.appAt(at("10:00")), func(h handle) {
			r.clear()
			for _, key := range []string{"kept", "replaced", "earlier", "later"} {
				r.put(early, NewJob{Entity: order(key), JobExec: "ship", DueAt: at("12:00")})
			}
			r.put(early, NewJob{Entity: order("begun"), JobExec: "ship", DueAt: at("09:00")})
			list := []struct {
				key, due string
				policy   OnPending
				want     InsertAction
			}{
				{"new", "11:00", "", DidInsert},
				{"kept", "11:00", Keep, DidKeep},
				{"replaced", "13:00", Replace, DidReplace},
				{"earlier", "11:00", Earlier, DidReplace},
				{"later", "11:00", Later, DidKeep},
				{"begun", "11:00", Keep, DidReplace},
				// The same ones again.
				{"new", "12:00", "", DidKeep},
				{"new", "12:00", Later, DidReplace},
				{"new", "11:30", Earlier, DidReplace},
				{"kept", "14:00", Replace, DidReplace},
				{"error", "14:00", OnPendingError, DidInsert},
				{"replaced", "15:00", Keep, DidKeep},
			}
			var jobs []NewJob
			for i, tt := range list {
				jobs = append(jobs, NewJob{
					Entity: order(tt.key), JobExec: "ship", DueAt: at(tt.due), OnPending: tt.policy, Payload: json.RawMessage(fmt.Sprint(i)),
				})
			}
			did, err := r.client.InsertMany(t.Context(), h.db, jobs)
			r.must(err)
			h.done(t)
			for i, tt := range list {
				if did[i].Did != tt.want || tt.want != DidKeep && !did[i].DueAt.Equal(at(tt.due)) {
					t.Errorf("%s: job %d, %+v: %+v", h.name, i+1, tt, did[i])
				}
			}
			want := map[string]string{
				"new": "11:30 8", "kept": "14:00 9", "replaced": "13:00 2", "earlier": "11:00 3", "later": "12:00 ", "begun": "11:00 5",
				"error": "14:00 10",
			}
			rows := r.rows()
			for _, job := range rows {
				if got := job.DueAt.Format("15:04 ") + string(job.Payload); got != want[job.EntityKey] {
					t.Errorf("%s: pending for %s: %q; want %q", h.name, job.EntityKey, got, want[job.EntityKey])
				}
			}
			if len(rows) != len(want) || r.count(countEnded) != 0 {
				t.Errorf("%s: pending: %+v", h.name, rows)
			}
		})
	})
}

func TestInsertManyIsAllOrNone(t *testing.T) {
	const n = 1100
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		pending := NewJob{Entity: order("pending"), JobExec: "ship", DueAt: at("12:00")}
		collision := NewJob{Entity: order("collision"), JobExec: "ship", DueAt: at("12:00")}
		app := r.appAt(at("10:00"))
		for name, tt := range map[string]struct {
			last NewJob
			want error
			said string
		}{
			"beyond the horizon": {NewJob{Entity: order("far"), JobExec: "ship", DueAt: at("12:00").AddDate(0, 0, 31)}, ErrBeyondHorizon, "job 1101: "},
			"refused":            {NewJob{Entity: pending.Entity, JobExec: "ship", DueAt: at("12:00"), OnPending: OnPendingError}, ErrPending, "job 1101: "},
			"twice in the list":  {NewJob{Entity: order("7"), JobExec: "ship", DueAt: at("12:00"), OnPending: OnPendingError}, ErrPending, "job 1101: "},
			"a collision":        {collision, ErrKeyCollision, "job 1101: "},
			"no identifier":      {NewJob{Entity: order("42"), JobExec: "no way", DueAt: at("12:00")}, ErrInvalid, "job 1101: "},
			"a payload that the server refuses": {
				NewJob{Entity: order("odd"), JobExec: "ship", DueAt: at("12:00"), Payload: json.RawMessage(`"\ud800"`)}, ErrInvalid, "among ",
			},
		} {
			eachHandle(t, app, func(h handle) {
				if h.name == "sqlx.DB" || h.name == "sqlx.Tx" {
					return
				}
				r.clear()
				r.put(app, pending)
				r.exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, job_key) VALUES ('other', '1', 'ship', '2026-11-20 12:00:00', ?)`,
					keyBytes(KeyOf(collision.Entity, "ship", "")))
				if h.commit != nil {
					// What the caller did before stays.
					_, err := r.client.Insert(t.Context(), h.db, NewJob{Entity: order("before"), JobExec: "ship", DueAt: at("12:00")})
					r.must(err)
				}
				before := r.count(countPending)
				did, err := r.client.InsertMany(t.Context(), h.db, append(manyJobs(n), tt.last))
				wantErr(t, h.name+": "+name, err, tt.want)
				if err == nil || !strings.HasPrefix(err.Error(), tt.said) || did != nil {
					t.Errorf("%s: %s: %v, %d results; want %q and none", h.name, name, err, len(did), tt.said)
				}
				if h.commit != nil {
					before++
					_, err := r.client.Insert(t.Context(), h.db, NewJob{Entity: order("after"), JobExec: "ship", DueAt: at("12:00")})
					r.must(err)
					before++
				}
				h.done(t)
				if got := r.count(countPending); got != before {
					t.Errorf("%s: %s: %d rows; want %d", h.name, name, got, before)
				}
			})
		}
	})
}

func TestInsertManyOfNothingDoesNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		eachHandle(t, r.app, func(h handle) {
			if did, err := r.client.InsertMany(t.Context(), h.db, nil); len(did) != 0 || err != nil {
				t.Errorf("%s: %+v, %v", h.name, did, err)
			}
			h.done(t)
		})
		r.none()
	})
}

func TestInsertManyBearsLongPayloads(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		jobs := manyJobs(6)
		for i := range jobs {
			jobs[i].Payload = json.RawMessage(`"` + strings.Repeat("é", 1<<18) + `"`)
		}
		jobs[5].Payload = json.RawMessage(`"` + strings.Repeat("é", MaxPayload/2-1) + `"`)
		_, err := r.client.InsertMany(t.Context(), r.appAt(at("10:00")), jobs)
		r.must(err)
		var bytes int
		r.must(r.root.QueryRow("SELECT SUM(LENGTH(CAST(payload AS CHAR CHARACTER SET utf8mb4))) FROM p_future_job").Scan(&bytes))
		if want := 5*(1<<19+2) + MaxPayload; bytes != want {
			t.Errorf("stored %d bytes; want %d", bytes, want)
		}
	})
}
