package acceptance

import (
	"context"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker"
)

// The case that it all began with: an order that is not shipped is alerted about after three hours, and again later.
func TestAnUnshippedOrderIsAlertedAboutAtItsSlotAndEscalatedLater(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		placed := rig.At("10:05")
		order := prescient.Entity{Name: "order", Key: "42"}
		did := r.Insert(placed, prescient.NewJob{Entity: order, JobExec: "unshipped", DueAt: placed.Add(3 * time.Hour)})
		if want := rig.At("13:15"); did.Did != client.DidInsert || !did.Slot.Equal(want) {
			t.Fatalf("inserted: %+v; want slot %s", did, want)
		}
		var alerts []string
		execs := rig.Registry("unshipped", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			if job.CheckCount == 0 {
				alerts = append(alerts, "primary at "+job.NextCheckAt.Format("15:04"))
				return prescient.At(placed.Add(6 * time.Hour)), nil
			}
			alerts = append(alerts, "escalated at "+job.NextCheckAt.Format("15:04"))
			return nil, nil
		}, prescient.Guards{})

		for _, step := range []struct {
			now    string
			alerts int
		}{{"13:00:01", 0}, {"13:15:01", 1}, {"13:30:01", 1}, {"16:00:01", 1}, {"16:15:02", 2}, {"16:30:01", 2}} {
			r.RunAt(rig.At(step.now), execs, worker.Options{})
			if len(alerts) != step.alerts {
				t.Fatalf("at %s: alerts %q; want %d", step.now, alerts, step.alerts)
			}
		}
		if alerts[0] != "primary at 13:15" || alerts[1] != "escalated at 16:15" {
			t.Fatalf("alerts: %q", alerts)
		}
		if left := r.Pending(); len(left) != 0 {
			t.Fatalf("still pending: %+v", left)
		}
		ends := r.History()
		if len(ends) != 1 {
			t.Fatalf("%d ends; want 1: %+v", len(ends), ends)
		}
		end := ends[0]
		if end.Outcome != prescient.Done || end.CheckCount != 1 || !end.Slot.Equal(rig.At("16:15")) || !end.FirstCheckAt.Equal(rig.At("13:15")) {
			t.Errorf("end: %+v", end)
		}
		if end.LatenessMS == nil || *end.LatenessMS < 2000 || *end.LatenessMS > 20000 {
			t.Errorf("lateness %v ms; want 2 s and a little", end.LatenessMS)
		}
		if end.Worker == "" || end.StartedAt == nil || end.EndedAt.Before(*end.StartedAt) {
			t.Errorf("end: %+v", end)
		}
	})
}

func TestAfterAnOutageOverTheReturnedTimeTheEscalationComesAtTheNextSlot(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		placed := rig.At("10:05")
		r.Insert(placed, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "42"}, JobExec: "unshipped", DueAt: placed.Add(3 * time.Hour)})
		execs := rig.Registry("unshipped", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			if job.CheckCount == 0 {
				return prescient.At(placed.Add(6 * time.Hour)), nil // 16:05, over by the time it is returned
			}
			return nil, nil
		}, prescient.Guards{})
		swept, err := r.Worker(rig.At("18:20"), execs, worker.Options{}).Sweep(t.Context())
		r.Must(err)
		if len(swept) != 1 || swept[0].Moved != 1 {
			t.Fatalf("swept: %+v", swept)
		}
		left := r.Pending()
		if len(left) != 1 || !left[0].NextCheckAt.Equal(rig.At("18:30")) || !left[0].DueAt.Equal(rig.At("16:05")) {
			t.Fatalf("pending: %+v; want it at 18:30, due at 16:05", left)
		}
		if f := r.RunAt(rig.At("18:30"), execs, worker.Options{}); f.Done != 1 {
			t.Fatalf("figures: %+v", f)
		}
	})
}
