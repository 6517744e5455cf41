package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// manyJobs are new jobs, due one after the other.
func manyJobs(n int) []prescient.NewJob {
	jobs := make([]prescient.NewJob, n)
	for i := range jobs {
		jobs[i] = prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "ship", DueAt: rig.At("11:00").Add(time.Duration(i) * time.Second)}
	}
	return jobs
}

func TestInsertManyInsertsThousands(t *testing.T) {
	t.Parallel()
	const n = 5000
	eachServer(t, func(t *testing.T, r *testRig) {
		app := r.AppAt(rig.At("10:00"))
		tx := rig.Begin(t, app, 0)
		for _, h := range []rig.Handle{{Name: "DB", Db: app}, {Name: "Tx", Db: tx, Commit: tx.Commit}} {
			r.Clear()
			for _, want := range []InsertAction{DidInsert, DidKeep} {
				if h.Name == "Tx" && want == DidKeep {
					continue // holds each row, which takes its time
				}
				did, err := r.client.InsertMany(t.Context(), h.Db, manyJobs(n))
				r.Must(err)
				if len(did) != n {
					t.Fatalf("%s: %d results; want %d", h.Name, len(did), n)
				}
				for i, d := range did {
					due := rig.At("11:00").Add(time.Duration(i) * time.Second)
					if d != (Inserted{Did: want, DueAt: due, Slot: r.client.tables.Grid.Ceil(due)}) {
						t.Fatalf("%s: job %d: %+v; want %s, due %s", h.Name, i+1, d, want, due)
					}
				}
			}
			h.Done(t)
			if got := r.Count(rig.CountPending); got != n {
				t.Errorf("%s: %d rows; want %d", h.Name, got, n)
			}
		}
		job, err := r.client.Get(t.Context(), app, rig.Order("4999"), "ship", "")
		if err != nil || !job.NextCheckAt.Equal(rig.At("12:30")) || !job.FirstCheckAt.Equal(rig.At("12:30")) {
			t.Errorf("the last: %+v, %v", job, err)
		}
	})
}

func TestInsertManySettlesEachJobByItsPolicyInTheOrderOfTheList(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		early := r.AppAt(rig.At("08:00"))
		rig.EachHandle(t, r.AppAt(rig.At("10:00")), func(h rig.Handle) {
			r.Clear()
			for _, key := range []string{"kept", "replaced", "earlier", "later"} {
				r.put(early, prescient.NewJob{Entity: rig.Order(key), JobExec: "ship", DueAt: rig.At("12:00")})
			}
			r.put(early, prescient.NewJob{Entity: rig.Order("begun"), JobExec: "ship", DueAt: rig.At("09:00")})
			list := []struct {
				key, due string
				policy   prescient.OnPending
				want     InsertAction
			}{
				{"new", "11:00", "", DidInsert},
				{"kept", "11:00", prescient.Keep, DidKeep},
				{"replaced", "13:00", prescient.Replace, DidReplace},
				{"earlier", "11:00", prescient.Earlier, DidReplace},
				{"later", "11:00", prescient.Later, DidKeep},
				{"begun", "11:00", prescient.Keep, DidReplace},
				// The same ones again.
				{"new", "12:00", "", DidKeep},
				{"new", "12:00", prescient.Later, DidReplace},
				{"new", "11:30", prescient.Earlier, DidReplace},
				{"kept", "14:00", prescient.Replace, DidReplace},
				{"error", "14:00", prescient.OnPendingError, DidInsert},
				{"replaced", "15:00", prescient.Keep, DidKeep},
			}
			var jobs []prescient.NewJob
			for i, tt := range list {
				jobs = append(jobs, prescient.NewJob{
					Entity: rig.Order(tt.key), JobExec: "ship", DueAt: rig.At(tt.due), OnPending: tt.policy, Payload: json.RawMessage(fmt.Sprint(i)),
				})
			}
			did, err := r.client.InsertMany(t.Context(), h.Db, jobs)
			r.Must(err)
			h.Done(t)
			for i, tt := range list {
				if did[i].Did != tt.want || tt.want != DidKeep && !did[i].DueAt.Equal(rig.At(tt.due)) {
					t.Errorf("%s: job %d, %+v: %+v", h.Name, i+1, tt, did[i])
				}
			}
			want := map[string]string{
				"new": "11:30 8", "kept": "14:00 9", "replaced": "13:00 2", "earlier": "11:00 3", "later": "12:00 ", "begun": "11:00 5",
				"error": "14:00 10",
			}
			rows := r.rows()
			for _, job := range rows {
				if got := job.DueAt.Format("15:04 ") + string(job.Payload); got != want[job.EntityKey] {
					t.Errorf("%s: pending for %s: %q; want %q", h.Name, job.EntityKey, got, want[job.EntityKey])
				}
			}
			if len(rows) != len(want) || r.Count(rig.CountEnded) != 0 {
				t.Errorf("%s: pending: %+v", h.Name, rows)
			}
		})
	})
}

func TestInsertManyIsAllOrNone(t *testing.T) {
	t.Parallel()
	const n = 1100
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		pending := prescient.NewJob{Entity: rig.Order("pending"), JobExec: "ship", DueAt: rig.At("12:00")}
		collision := prescient.NewJob{Entity: rig.Order("collision"), JobExec: "ship", DueAt: rig.At("12:00")}
		app := r.AppAt(rig.At("10:00"))
		for name, tt := range map[string]struct {
			last prescient.NewJob
			want error
			said string
		}{
			"beyond the horizon": {prescient.NewJob{Entity: rig.Order("far"), JobExec: "ship", DueAt: rig.At("12:00").AddDate(0, 0, 31)}, prescient.ErrBeyondHorizon, "check 1101: "},
			"refused":            {prescient.NewJob{Entity: pending.Entity, JobExec: "ship", DueAt: rig.At("12:00"), OnPending: prescient.OnPendingError}, prescient.ErrPending, "check 1101: "},
			"twice in the list":  {prescient.NewJob{Entity: rig.Order("7"), JobExec: "ship", DueAt: rig.At("12:00"), OnPending: prescient.OnPendingError}, prescient.ErrPending, "check 1101: "},
			"a collision":        {collision, prescient.ErrKeyCollision, "check 1101: "},
			"no identifier":      {prescient.NewJob{Entity: rig.Order("42"), JobExec: "no way", DueAt: rig.At("12:00")}, prescient.ErrInvalid, "check 1101: "},
			"a payload that the server refuses": {
				prescient.NewJob{Entity: rig.Order("odd"), JobExec: "ship", DueAt: rig.At("12:00"), Payload: json.RawMessage(`"\ud800"`)}, prescient.ErrInvalid, "among ",
			},
		} {
			rig.EachHandle(t, app, func(h rig.Handle) {
				if h.Name == "sqlx.DB" || h.Name == "sqlx.Tx" {
					return
				}
				r.Clear()
				r.put(app, pending)
				r.Exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, job_key) VALUES ('other', '1', 'ship', '2026-11-20 12:00:00', ?)`,
					rig.KeyBytes(prescient.KeyOf(collision.Entity, "ship", "")))
				if h.Commit != nil {
					// What the caller did before stays.
					_, err := r.client.Insert(t.Context(), h.Db, prescient.NewJob{Entity: rig.Order("before"), JobExec: "ship", DueAt: rig.At("12:00")})
					r.Must(err)
				}
				before := r.Count(rig.CountPending)
				did, err := r.client.InsertMany(t.Context(), h.Db, append(manyJobs(n), tt.last))
				rig.WantErr(t, h.Name+": "+name, err, tt.want)
				if err == nil || !strings.HasPrefix(err.Error(), tt.said) || did != nil {
					t.Errorf("%s: %s: %v, %d results; want %q and none", h.Name, name, err, len(did), tt.said)
				}
				if h.Commit != nil {
					before++
					_, err := r.client.Insert(t.Context(), h.Db, prescient.NewJob{Entity: rig.Order("after"), JobExec: "ship", DueAt: rig.At("12:00")})
					r.Must(err)
					before++
				}
				h.Done(t)
				if got := r.Count(rig.CountPending); got != before {
					t.Errorf("%s: %s: %d rows; want %d", h.Name, name, got, before)
				}
			})
		}
	})
}

func TestInsertManyOfNothingDoesNothing(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		rig.EachHandle(t, r.App, func(h rig.Handle) {
			if did, err := r.client.InsertMany(t.Context(), h.Db, nil); len(did) != 0 || err != nil {
				t.Errorf("%s: %+v, %v", h.Name, did, err)
			}
			h.Done(t)
		})
		r.none()
	})
}

func TestInsertManyBearsLongPayloads(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		jobs := manyJobs(6)
		for i := range jobs {
			jobs[i].Payload = json.RawMessage(`"` + strings.Repeat("é", 1<<18) + `"`)
		}
		jobs[5].Payload = json.RawMessage(`"` + strings.Repeat("é", prescient.MaxPayload/2-1) + `"`)
		_, err := r.client.InsertMany(t.Context(), r.AppAt(rig.At("10:00")), jobs)
		r.Must(err)
		var bytes int
		r.Must(r.Root.QueryRow("SELECT SUM(LENGTH(CAST(payload AS CHAR CHARACTER SET utf8mb4))) FROM p_future_job").Scan(&bytes))
		if want := 5*(1<<19+2) + prescient.MaxPayload; bytes != want {
			t.Errorf("stored %d bytes; want %d", bytes, want)
		}
	})
}
