package client

import (
	"errors"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

func TestASpreadInsertIsDueAtItsPlace(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		job := prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "42"}, JobExec: "check", DueAt: rig.At("14:00"), Spread: 6 * time.Hour}
		want := job.InPlace().DueAt
		if did := r.insert(rig.At("13:00"), job); !did.DueAt.Equal(want) || !did.Slot.Equal(r.client.tables.Grid.Ceil(want)) {
			t.Errorf("placed at %s in %s, want %s", did.DueAt, did.Slot, want)
		}
		// The same again is due at the same time, so it is not later.
		job.OnPending = prescient.Later
		if did := r.insert(rig.At("13:00"), job); did.Did != DidKeep {
			t.Errorf("the second insert %s it", did.Did)
		}
		job.Tag, job.OnPending = "many", prescient.Keep
		jobs := []prescient.NewJob{job, {Entity: job.Entity, JobExec: "check", Tag: "plain", DueAt: rig.At("14:00")}}
		did, err := r.client.InsertMany(t.Context(), r.AppAt(rig.At("13:00")), jobs)
		r.Must(err)
		want = job.InPlace().DueAt
		if !did[0].DueAt.Equal(want) || !did[1].DueAt.Equal(rig.At("14:00")) || jobs[0].Spread == 0 {
			t.Errorf("placed at %s and %s, want %s and 14:00; the list is %+v", did[0].DueAt, did[1].DueAt, want, jobs)
		}
		job.Spread = -time.Second
		if _, err := r.client.Insert(t.Context(), r.App, job); !errors.Is(err, prescient.ErrInvalid) || !rig.Contains(err, "spread -1s") {
			t.Errorf("negative spread: %v", err)
		}
	})
}
