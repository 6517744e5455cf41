package prescient

import (
	"context"
	"testing"
	"time"
)

// The case that it all began with: an order that is not shipped is alerted about after three hours, and again later.
func TestAnUnshippedOrderIsAlertedAboutAtItsSlotAndEscalatedLater(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		placed := at("10:05")
		order := Entity{"order", "42"}
		did := r.insert(placed, NewJob{Entity: order, JobExec: "unshipped", DueAt: placed.Add(3 * time.Hour)})
		if want := at("13:15"); did.Did != DidInsert || !did.Slot.Equal(want) {
			t.Fatalf("inserted: %+v; want slot %s", did, want)
		}
		var alerts []string
		execs := registry("unshipped", func(_ context.Context, job FutureJob) (*time.Time, error) {
			if job.CheckCount == 0 {
				alerts = append(alerts, "primary at "+job.NextCheckAt.Format("15:04"))
				return At(placed.Add(6 * time.Hour)), nil
			}
			alerts = append(alerts, "escalated at "+job.NextCheckAt.Format("15:04"))
			return nil, nil
		}, Guards{})

		for _, step := range []struct {
			now    string
			alerts int
		}{{"13:00:01", 0}, {"13:15:01", 1}, {"13:30:01", 1}, {"16:00:01", 1}, {"16:15:02", 2}, {"16:30:01", 2}} {
			r.runAt(at(step.now), execs, WorkerOptions{})
			if len(alerts) != step.alerts {
				t.Fatalf("at %s: alerts %q; want %d", step.now, alerts, step.alerts)
			}
		}
		if alerts[0] != "primary at 13:15" || alerts[1] != "escalated at 16:15" {
			t.Fatalf("alerts: %q", alerts)
		}
		if left := r.pending(); len(left) != 0 {
			t.Fatalf("still pending: %+v", left)
		}
		ends := r.history()
		if len(ends) != 1 {
			t.Fatalf("%d ends; want 1: %+v", len(ends), ends)
		}
		end := ends[0]
		if end.Outcome != Done || end.CheckCount != 1 || !end.Slot.Equal(at("16:15")) || !end.FirstCheckAt.Equal(at("13:15")) {
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
	eachServer(t, func(t *testing.T, r *rig) {
		placed := at("10:05")
		r.insert(placed, NewJob{Entity: Entity{"order", "42"}, JobExec: "unshipped", DueAt: placed.Add(3 * time.Hour)})
		execs := registry("unshipped", func(_ context.Context, job FutureJob) (*time.Time, error) {
			if job.CheckCount == 0 {
				return At(placed.Add(6 * time.Hour)), nil // 16:05, over by the time it is returned
			}
			return nil, nil
		}, Guards{})
		swept, err := r.worker(at("18:20"), execs, WorkerOptions{}).Sweep(t.Context())
		r.must(err)
		if len(swept) != 1 || swept[0].Moved != 1 {
			t.Fatalf("swept: %+v", swept)
		}
		left := r.pending()
		if len(left) != 1 || !left[0].NextCheckAt.Equal(at("18:30")) || !left[0].DueAt.Equal(at("16:05")) {
			t.Fatalf("pending: %+v; want it at 18:30, due at 16:05", left)
		}
		if f := r.runAt(at("18:30"), execs, WorkerOptions{}); f.Done != 1 {
			t.Fatalf("figures: %+v", f)
		}
	})
}
