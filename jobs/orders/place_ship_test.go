package orders_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/jobs/orders"
	"prescient/prescient"
	"prescient/prescient/client"
)

func TestRollbackLeavesNeitherOrderNorCheck(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		tx, err := r.app.BeginTx(t.Context(), nil)
		r.must(err)
		_, err = r.orders(day).Place(t.Context(), tx, orders.NewOrder{})
		r.must(err)
		r.must(tx.Rollback())
		var placed int
		r.must(r.app.QueryRow("SELECT COUNT(*) FROM app_orders").Scan(&placed))
		if placed != 0 || len(r.pending()) != 0 {
			t.Errorf("%d orders, pending %+v", placed, r.pending())
		}
	})
}

func TestRollbackOfAShipmentLeavesTheCheck(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		placed := r.place(at("10:05"))
		tx, err := r.app.BeginTx(t.Context(), nil)
		r.must(err)
		r.must(r.orders(day, cancelOnShip).Ship(t.Context(), tx, placed.ID))
		r.must(tx.Rollback())
		r.run(at("13:15:01"))
		if got := r.alerts(placed.ID); len(got) != 1 {
			t.Errorf("alerts %q; want the primary one", got)
		}
	})
}

// Whatever an app's connection makes of times and texts, what is stored is UTC.
func TestSettingsOfTheAppsConnectionChangeNothing(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.dsn.Loc = time.FixedZone("", -8*3600)
		r.dsn.ParseTime = true
		for _, found := range []bool{false, true} {
			r.dsn.ClientFoundRows = found
			r.dsn.InterpolateParams = found
			app := r.open(map[string]string{
				"timestamp": stopped(at("10:05"))["timestamp"],
				"time_zone": "'-08:00'",
				"sql_mode":  "'ANSI_QUOTES,NO_AUTO_VALUE_ON_ZERO,IGNORE_SPACE,PIPES_AS_CONCAT'",
			})
			tx, err := app.BeginTx(t.Context(), nil)
			r.must(err)
			placedAt := at("10:05").Add(1).In(time.FixedZone("", 5400)) // a nanosecond more
			placed, err := r.orders(day).Place(t.Context(), tx, orders.NewOrder{PlacedAt: placedAt})
			r.must(err)
			r.must(r.orders(day, cancelOnShip).Ship(t.Context(), tx, placed.ID))
			r.must(r.orders(day, cancelOnShip).Ship(t.Context(), tx, placed.ID))
			r.must(tx.Commit())
			if want := at("10:05:00.000001"); placed.PlacedAt != want || !placed.Check.DueAt.Equal(want.Add(3*time.Hour)) {
				t.Errorf("placed: %+v", placed)
			}
			var placedText, shippedText string
			r.must(r.open(nil).QueryRow("SELECT CAST(placed_at AS CHAR), CAST(shipped_at AS CHAR) FROM app_orders WHERE id = ?", placed.ID).
				Scan(&placedText, &shippedText))
			if placedText != "2026-11-20 10:05:00.000001" || shippedText != "2026-11-20 10:05:00.000000" {
				t.Errorf("stored: placed %s, shipped %s", placedText, shippedText)
			}
		}
		if ends := r.history(); len(ends) != 2 || ends[0].Outcome != prescient.Cancelled || len(r.pending()) != 0 {
			t.Errorf("ends %+v", ends)
		}
	})
}

// Whatever the clock of this machine says, which is another day's here.
func TestPlacedNowByDefaultByTheDatabasesClock(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		var placed orders.Placed
		r.inTx(at("10:05"), func(tx *sql.Tx) {
			var err error
			placed, err = r.orders(day).Place(t.Context(), tx, orders.NewOrder{})
			r.must(err)
		})
		if !placed.PlacedAt.Equal(at("10:05")) || !placed.Check.DueAt.Equal(at("13:05")) {
			t.Errorf("placed at %s, to be checked at %s", placed.PlacedAt, placed.Check.DueAt)
		}
	})
}

func TestIDCanBeGiven(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		place := func(id int64) (placed orders.Placed, err error) {
			tx, err := r.appAt(at("10:05")).BeginTx(t.Context(), nil)
			r.must(err)
			defer tx.Rollback()
			if placed, err = r.orders(day).Place(t.Context(), tx, orders.NewOrder{ID: id, PlacedAt: at("10:05")}); err != nil {
				return placed, err
			}
			return placed, tx.Commit()
		}
		if placed, err := place(42); err != nil || placed.ID != 42 {
			t.Fatal(placed, err)
		}
		if placed, err := place(0); err != nil || placed.ID != 43 {
			t.Error(placed, err)
		}
		var duplicate *mysql.MySQLError
		if _, err := place(42); !errors.As(err, &duplicate) || duplicate.Number != 1062 {
			t.Errorf("an id that is taken: %v", err)
		}
		if _, err := place(-1); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("a negative id: %v", err)
		}
	})
}

func TestCheckOfAnEarlierOrderIsReplaced(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		placed := r.place(at("10:05"))
		r.exec(r.root, "DELETE FROM app_orders")
		r.inTx(at("12:00"), func(tx *sql.Tx) {
			_, err := r.orders(day).Place(t.Context(), tx, orders.NewOrder{ID: placed.ID, PlacedAt: at("12:00")})
			r.must(err)
		})
		if left := r.pending(); len(left) != 1 || !left[0].NextCheckAt.Equal(at("15:00")) {
			t.Errorf("pending %+v; want one at 15:00", left)
		}
	})
}

func TestShippingAnOrderThatIsNotThereIsAnError(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		for _, o := range []*orders.Orders{r.orders(day), r.orders(day, cancelOnShip)} {
			if err := o.Ship(t.Context(), r.app, 42); !errors.Is(err, orders.ErrNoOrder) {
				t.Error(err)
			}
		}
	})
}

// An order that was placed after a transaction took its snapshot is there all the same, also if it is shipped by now;
// where the server refuses what was changed since, in the next transaction.
func TestOrderNewerThanTheSnapshotCanBeShipped(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		for _, shipped := range []bool{false, true} {
			tx, err := r.app.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
			r.must(err)
			defer tx.Rollback()
			var none int
			r.must(tx.QueryRow("SELECT COUNT(*) FROM app_orders").Scan(&none))
			placed := r.place(at("10:05"))
			if shipped {
				r.ship(at("10:06"), placed.ID)
			}
			err = r.orders(day, cancelOnShip).Ship(t.Context(), tx, placed.ID)
			if refuses := r.refusesChangedRows(); refuses != client.BeginAgain(err) {
				t.Errorf("shipped already %t: %v; the server refuses rows that were changed: %t", shipped, err, refuses)
			}
			if client.BeginAgain(err) {
				r.must(tx.Rollback())
				tx, err = r.app.BeginTx(t.Context(), nil)
				r.must(err)
				defer tx.Rollback()
				err = r.orders(day, cancelOnShip).Ship(t.Context(), tx, placed.ID)
			}
			r.must(err)
			r.must(tx.Commit())
			if left := r.pending(); len(left) != 0 {
				t.Errorf("shipped already %t: pending %+v", shipped, left)
			}
		}
	})
}
