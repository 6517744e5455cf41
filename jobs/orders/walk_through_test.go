package orders_test

import (
	"database/sql"
	"slices"
	"testing"
	"time"

	"prescient/jobs/orders"
	"prescient/prescient"
	"prescient/prescient/client"
)

func TestUnshippedOrderIsAlertedAboutThenEscalatedThenLeftAlone(t *testing.T) {
	eachCheck(t, func(t *testing.T, r *rig) {
		placed := r.place(at("10:05"))
		if placed.ID != 1 || placed.Check.Did != client.DidInsert || !placed.Check.Slot.Equal(at("13:15")) {
			t.Fatalf("placed: %+v; want order 1 with a check at 13:15", placed)
		}
		for _, step := range []struct {
			now    string
			alerts []string
		}{
			{"13:00:01", nil},
			{"13:15:01", []string{"primary 13:15"}},
			{"13:30:01", []string{"primary 13:15"}},
			{"16:00:01", []string{"primary 13:15"}},
			{"16:15:01", []string{"primary 13:15", "escalated 16:15"}},
			{"16:30:01", []string{"primary 13:15", "escalated 16:15"}},
		} {
			r.run(at(step.now))
			if got := r.alerts(placed.ID); !slices.Equal(got, step.alerts) {
				t.Fatalf("at %s: alerts %q; want %q", step.now, got, step.alerts)
			}
		}

		want := []orders.Alert{
			{OrderID: 1, Level: orders.Primary, RaisedAt: at("13:15:01"), Slot: at("13:15")},
			{OrderID: 1, Level: orders.Escalated, RaisedAt: at("16:15:01"), Slot: at("16:15")},
		}
		if !slices.Equal(r.told, want) {
			t.Errorf("told of %+v; want %+v", r.told, want)
		}
		rows, err := r.orders(day).Alerts(t.Context(), placed.ID)
		r.must(err)
		if !slices.Equal(rows, want) {
			t.Errorf("rows %+v; want %+v", rows, want)
		}
		ends := r.history()
		if len(ends) != 1 || len(r.pending()) != 0 {
			t.Fatalf("ends %+v, pending %+v; want one end and nothing pending", ends, r.pending())
		}
		if end := ends[0]; end.Outcome != prescient.Done || end.CheckCount != 1 || end.ErrorCount != 0 || end.Entity().String() != "order/1" ||
			!end.FirstCheckAt.Equal(at("13:15")) || !end.Slot.Equal(at("16:15")) {
			t.Errorf("end: %+v", end)
		}
	})
}

func TestShippedOrderRaisesNothing(t *testing.T) {
	for _, test := range []struct {
		about   string
		shipped string
		options []func(*orders.Options)
		alerts  []string
		outcome prescient.Outcome
		checks  int
		slot    string
	}{
		{"in time, check left alone", "12:00", nil, nil, prescient.Done, 0, "13:15"},
		{"in time, check cancelled", "12:00", []func(*orders.Options){cancelOnShip}, nil, prescient.Cancelled, 0, "13:15"},
		{"after the alert, check left alone", "14:00", nil, []string{"primary 13:15"}, prescient.Done, 1, "16:15"},
		{"after the alert, check cancelled", "14:00", []func(*orders.Options){cancelOnShip}, []string{"primary 13:15"}, prescient.Cancelled, 1, "16:15"},
	} {
		t.Run(test.about, func(t *testing.T) {
			eachCheck(t, func(t *testing.T, r *rig) {
				placed := r.place(at("10:05"))
				for _, now := range []string{"13:15:01", "16:15:01", "16:30:01"} {
					if shipped := at(test.shipped); shipped.Before(at(now)) && shipped.After(at(now).Add(-3*time.Hour)) {
						r.ship(shipped, placed.ID, test.options...)
					}
					r.run(at(now))
				}
				if got := r.alerts(placed.ID); !slices.Equal(got, test.alerts) {
					t.Errorf("alerts %q; want %q", got, test.alerts)
				}
				ends := r.history()
				if len(ends) != 1 || len(r.pending()) != 0 {
					t.Fatalf("ends %+v, pending %+v; want one end and nothing pending", ends, r.pending())
				}
				if end := ends[0]; end.Outcome != test.outcome || end.CheckCount != test.checks || !end.Slot.Equal(at(test.slot)) {
					t.Errorf("end: %+v; want %s at %s after %d times", end, test.outcome, test.slot, test.checks)
				}
			})
		})
	}
}

func TestOrderThatIsGoneRaisesNothing(t *testing.T) {
	eachCheck(t, func(t *testing.T, r *rig) {
		placed := r.place(at("10:05"))
		r.exec(r.root, "DELETE FROM app_orders")
		r.run(at("13:15:01"))
		ends := r.history()
		if got := r.alerts(placed.ID); got != nil || len(ends) != 1 || ends[0].Outcome != prescient.Done || ends[0].CheckCount != 0 {
			t.Errorf("alerts %q, ends %+v", got, ends)
		}
	})
}

// Nothing ran from before the first check until after the time to escalate.
func TestAfterAnOutageTheAlertsComeOneSlotAfterTheOther(t *testing.T) {
	eachCheck(t, func(t *testing.T, r *rig) {
		caughtUp := r.place(at("10:05")) // its slot is over: 13:15
		r.sweep(at("18:20"))
		if got := r.alerts(caughtUp.ID); !slices.Equal(got, []string{"primary 13:15"}) {
			t.Errorf("swept: alerts %q", got)
		}
		r.run(at("18:30:01"))
		if got := r.alerts(caughtUp.ID); !slices.Equal(got, []string{"primary 13:15", "escalated 18:30"}) {
			t.Errorf("at the next slot: alerts %q", got)
		}

		// An order that is only told of after all its times gets the next slot.
		var late orders.Placed
		r.inTx(at("20:20"), func(tx *sql.Tx) {
			var err error
			late, err = r.orders(day).Place(t.Context(), tx, orders.NewOrder{ID: 77, PlacedAt: at("09:00")})
			r.must(err)
		})
		r.run(at("20:30:01"))
		r.run(at("20:45:01"))
		if got := r.alerts(late.ID); late.ID != 77 || !slices.Equal(got, []string{"primary 20:30", "escalated 20:45"}) {
			t.Errorf("order %d: alerts %q", late.ID, got)
		}
		for _, end := range r.history() {
			if end.Outcome != prescient.Done || end.CheckCount != 1 {
				t.Errorf("end: %+v", end)
			}
		}
	})
}

func TestEveryOrderOfASlotIsChecked(t *testing.T) {
	eachCheck(t, func(t *testing.T, r *rig) {
		const placed = 300
		o := r.orders(at("10:05"))
		r.inTx(at("10:05"), func(tx *sql.Tx) {
			for i := range placed {
				order, err := o.Place(t.Context(), tx, orders.NewOrder{PlacedAt: at("10:05").Add(time.Duration(i) * time.Second)})
				r.must(err)
				if i%3 == 0 {
					r.must(o.Ship(t.Context(), tx, order.ID))
				}
			}
		})
		for now := at("13:00:01"); now.Before(at("17:00")); now = now.Add(15 * time.Minute) {
			r.run(now)
		}
		var primary, escalated, shipped int
		r.must(r.root.QueryRow(`SELECT SUM(level = 'primary'), SUM(level = 'escalated'), SUM(shipped_at IS NOT NULL)
			FROM app_order_alerts JOIN app_orders ON order_id = id`).Scan(&primary, &escalated, &shipped))
		if primary != 200 || escalated != 200 || shipped != 0 || len(r.told) != 400 {
			t.Errorf("%d primary and %d escalated alerts, %d of shipped orders, told of %d; want 200, 200, 0, 400",
				primary, escalated, shipped, len(r.told))
		}
		var done int
		r.must(r.root.QueryRow("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'done'").Scan(&done))
		if done != placed || len(r.pending()) != 0 {
			t.Errorf("%d checks done, pending %+v", done, r.pending())
		}
	})
}
