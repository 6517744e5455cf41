package client

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/internal/rig"
)

func TestRescheduleManyMovesAllOrNone(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		rig.EachHandle(t, r.AppAt(rig.At("10:00")), func(h rig.Handle) {
			defer r.Clear()
			jobs := manyJobs(30)
			_, err := r.client.InsertMany(t.Context(), r.AppAt(rig.At("10:00")), jobs)
			r.Must(err)
			var times []NewTime
			for i, job := range jobs {
				times = append(times, NewTime{Entity: job.Entity, JobExec: job.JobExec, Tag: job.Tag, DueAt: rig.At("14:05").Add(time.Duration(i) * time.Hour / 60)})
			}
			did, err := r.client.RescheduleMany(t.Context(), h.Db, times)
			if err != nil {
				t.Fatalf("%s: %v", h.Name, err)
			}
			h.Done(t)
			for i, d := range did {
				job, err := r.client.Get(t.Context(), r.App, jobs[i].Entity, jobs[i].JobExec, jobs[i].Tag)
				if err != nil || d.Did != DidReschedule || !d.DueAt.Equal(times[i].DueAt) || !job.DueAt.Equal(times[i].DueAt) || !job.NextCheckAt.Equal(d.Slot) {
					t.Errorf("%s: check %d: %+v, %+v, %v", h.Name, i, d, job, err)
				}
			}
		})
		jobs := manyJobs(5)
		_, err := r.client.InsertMany(t.Context(), r.AppAt(rig.At("10:00")), jobs)
		r.Must(err)
		before := r.rows()
		for what, c := range map[string]struct {
			last NewTime
			err  error
		}{
			"what is not pending": {NewTime{Entity: rig.Order("none"), JobExec: "ship", DueAt: rig.At("14:05")}, prescient.ErrNotFound},
			"the horizon":         {NewTime{Entity: jobs[4].Entity, JobExec: jobs[4].JobExec, DueAt: rig.At("14:05").AddDate(1, 0, 0)}, prescient.ErrBeyondHorizon},
			"no time":             {NewTime{Entity: jobs[4].Entity, JobExec: jobs[4].JobExec}, prescient.ErrInvalid},
		} {
			times := []NewTime{{Entity: jobs[0].Entity, JobExec: jobs[0].JobExec, DueAt: rig.At("14:05")}, c.last}
			_, err = r.client.RescheduleMany(t.Context(), r.AppAt(rig.At("10:00")), times)
			if rig.WantErr(t, what, err, c.err); !rig.Contains(err, "check 2") {
				t.Errorf("%s: %v does not name the check", what, err)
			}
		}
		if after := r.rows(); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("%+v\nwas %+v", after, before)
		}
	})
}

// newTimes are times for checks, each a minute after the one before, in another order than that of their keys.
func newTimes(jobs []prescient.NewJob, from time.Time) (times []NewTime) {
	for i, job := range jobs {
		times = append(times, NewTime{Entity: job.Entity, JobExec: job.JobExec, Tag: job.Tag, DueAt: from.Add(time.Duration(i) * time.Minute)})
	}
	return times
}

func TestRescheduleManyTakesFewStatements(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		jobs := manyJobs(2 * rescheduleRows)
		for i := range jobs {
			if i%2 == 0 {
				jobs[i].Payload, jobs[i].ExpiresAfter = []byte(`{"a": 1}`), 2*time.Hour
			}
		}
		_, err := r.client.InsertMany(t.Context(), r.AppAt(rig.At("10:00")), jobs)
		r.Must(err)
		var h rig.Hooks
		db := r.HookedAs("app-reschedule", rig.At("10:00"), &h)
		for what, times := range map[string][]NewTime{
			"to a time each": newTimes(jobs, rig.At("14:00")),
			"to one time":    newTimes(jobs, rig.At("16:00")),
			"to what is due": newTimes(jobs, rig.At("01:00")),
		} {
			if what == "to one time" {
				for i := range times {
					times[i].DueAt = times[0].DueAt
				}
			}
			before := h.Count("")
			did, err := r.client.RescheduleMany(t.Context(), db, times)
			if took := h.Count("") - before; err != nil || took > 8 {
				t.Errorf("%s: %v, by %d statements; want a look, and the time and a move for each %d, in a transaction", what, err, took, rescheduleRows)
			}
			rows := make(map[prescient.Key]prescient.FutureJob)
			for _, row := range r.rows() {
				rows[row.Key()] = row
			}
			for i, d := range did {
				row := rows[times[i].key()]
				slot := r.client.tables.Grid.Ceil(times[i].DueAt)
				if what == "to what is due" {
					slot = rig.At("10:15")
				}
				if d.Did != DidReschedule || !d.DueAt.Equal(times[i].DueAt) || !row.DueAt.Equal(times[i].DueAt) || !row.NextCheckAt.Equal(slot) || !d.Slot.Equal(slot) {
					t.Fatalf("%s: check %d: %+v, %+v; want slot %s", what, i, d, row, slot)
				}
				if i%2 == 0 && (row.ExpiresAt == nil || !row.ExpiresAt.Equal(times[i].DueAt.Add(2*time.Hour)) || string(row.Payload) == "") || i%2 == 1 && row.ExpiresAt != nil {
					t.Fatalf("%s: check %d: it expires at %v, payload %s", what, i, row.ExpiresAt, row.Payload)
				}
			}
		}
	})
}

func TestRescheduleManyOfACheckThatStandsTwiceGoesByTheOrderOfTheList(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		jobs := manyJobs(2)
		_, err := r.client.InsertMany(t.Context(), r.AppAt(rig.At("10:00")), jobs)
		r.Must(err)
		times := append(newTimes(jobs, rig.At("14:00")), newTimes(jobs, rig.At("18:00"))...)
		did, err := r.client.RescheduleMany(t.Context(), r.AppAt(rig.At("10:00")), times)
		if err != nil || !did[0].DueAt.Equal(rig.At("14:00")) || !did[2].DueAt.Equal(rig.At("18:00")) {
			t.Errorf("%+v, %v", did, err)
		}
		for i, row := range r.rows() {
			if row.DueAt.Hour() != 18 {
				t.Errorf("check %d is due at %s; want the later of the list", i, row.DueAt)
			}
		}
	})
}

// What somebody moves under it is moved all the same, and what somebody cancels is not there, which undoes all.
func TestRescheduleManyMeetsWhatOthersChangeUnderIt(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.AllIsolationLevels)
		jobs := manyJobs(20)
		for _, level := range []sql.IsolationLevel{-1, sql.LevelReadCommitted, sql.LevelRepeatableRead} {
			for what, change := range map[string]func(others *sql.DB) error{
				"moves": func(others *sql.DB) error {
					_, err := r.client.Reschedule(t.Context(), others, jobs[7].Entity, jobs[7].JobExec, "", rig.At("18:00"))
					return err
				},
				"cancels": func(others *sql.DB) error {
					_, err := r.client.Cancel(t.Context(), others, jobs[7].Entity)
					return err
				},
			} {
				r.Clear()
				others := r.AppAt(rig.At("10:00"))
				_, err := r.client.InsertMany(t.Context(), others, jobs)
				r.Must(err)
				var h rig.Hooks
				app := r.HookedAs("app-reschedule", rig.At("10:00"), &h)
				var db prescient.DB = app
				var tx *sql.Tx
				if level >= 0 {
					tx = rig.Begin(t, app.DB, level)
					db = tx
				}
				h.Once("UPDATE p_future_job job", func() { r.Must(change(others)) })
				_, err = r.client.RescheduleMany(t.Context(), db, newTimes(jobs, rig.At("14:00")))
				if tx != nil {
					r.Must(ignoreDone(tx.Commit()))
				}
				name := fmt.Sprintf("somebody %s one, in %s", what, level)
				moved := r.Count("SELECT COUNT(*) FROM p_future_job WHERE HOUR(due_at) = 14")
				refused := level == sql.LevelRepeatableRead && r.Refuses(r.App) && BeginAgain(err)
				switch {
				case refused && moved > 0, what == "moves" && !refused && (err != nil || moved != len(jobs)),
					what == "cancels" && !refused && (!errors.Is(err, prescient.ErrNotFound) || moved > 0):
					t.Errorf("%s: %d of %d were moved, %v", name, moved, len(jobs), err)
				}
			}
		}
	})
}

// ignoreDone leaves out that the server has ended the transaction before.
func ignoreDone(err error) error {
	if handle.IsOver(err) {
		return nil
	}
	return err
}
