package orders_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/jobs/orders"
	"prescient/prescient"
	text "prescient/sql"
)

// jobAt is the row of an order's check, in the run of a slot.
func jobAt(key, slot string) prescient.FutureJob {
	return prescient.FutureJob{EntityName: orders.EntityName, EntityKey: key, JobExec: orders.DefaultJobExec, NextCheckAt: at(slot)}
}

// A worker that dies between the call and the commit leaves the row as it was, and another calls for it again.
func TestSecondCallRaisesNothingAndAnswersTheSame(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.place(at("10:05"))
		for _, slot := range []struct {
			slot   string
			next   *time.Time
			alerts []string
		}{
			{"13:15", prescient.At(at("16:05")), []string{"primary 13:15"}},
			{"16:15", nil, []string{"primary 13:15", "escalated 16:15"}},
		} {
			for range 3 {
				next, err := r.orders(at(slot.slot)).Check(t.Context(), jobAt("1", slot.slot))
				r.must(err)
				if (next == nil) != (slot.next == nil) || next != nil && !next.Equal(*slot.next) {
					t.Errorf("slot %s: next %v; want %v", slot.slot, next, slot.next)
				}
				if got := r.alerts(1); !slices.Equal(got, slot.alerts) {
					t.Errorf("slot %s: alerts %q; want %q", slot.slot, got, slot.alerts)
				}
			}
		}
		if len(r.told) != 2 {
			t.Errorf("told of %+v", r.told)
		}
	})
}

func TestCallsAtTheSameTimeRaiseOneAlert(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.place(at("10:05"))
		o := r.orders(at("13:15"))
		var calls sync.WaitGroup
		for range 16 {
			calls.Go(func() {
				next, err := o.Check(t.Context(), jobAt("1", "13:15"))
				if err != nil || next == nil || !next.Equal(at("16:05")) {
					t.Errorf("%v, %v; want 16:05", next, err)
				}
			})
		}
		calls.Wait()
		if got := r.alerts(1); !slices.Equal(got, []string{"primary 13:15"}) || len(r.told) != 1 {
			t.Errorf("alerts %q, told of %+v", got, r.told)
		}
	})
}

// The alert waits for a transaction that is about to ship the order, and then is not raised.
func TestNoAlertAfterAShipmentThatWasUnderWay(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.place(at("10:05"))
		tx, err := r.app.BeginTx(t.Context(), nil)
		r.must(err)
		defer tx.Rollback()
		r.must(r.orders(day).Ship(t.Context(), tx, 1))

		type answer struct {
			next *time.Time
			err  error
		}
		answered := make(chan answer, 1)
		o := r.orders(at("13:15"))
		go func() {
			next, err := o.Check(t.Context(), jobAt("1", "13:15"))
			answered <- answer{next, err}
		}()
		r.untilWaiting("INSERT IGNORE INTO app_order_alerts")
		r.must(tx.Commit())
		if got := <-answered; got.next != nil || got.err != nil {
			t.Errorf("%v, %v; want nil, nil", got.next, got.err)
		}
		if got := r.alerts(1); got != nil || r.told != nil {
			t.Errorf("alerts %q, told of %+v", got, r.told)
		}
	})
}

// untilWaiting returns when a statement of the test's database waits for a lock. The server renews innodb_trx only
// when nobody has read it for a tenth of a second.
func (r *rig) untilWaiting(statement string) {
	r.t.Helper()
	query, args := `SELECT COUNT(*) FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id
		WHERE trx_state = 'LOCK WAIT' AND db = DATABASE() AND info LIKE ?`, []any{"%" + statement + "%"}
	if server, err := text.ServerOf(r.t.Context(), r.root); err == nil && server == text.TiDB { // does not tell of the statement
		query, args = "SELECT COUNT(*) FROM information_schema.tidb_trx WHERE state = 'LockWaiting' AND db = DATABASE()", nil
	}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(150 * time.Millisecond) {
		var waiting int
		err := r.root.QueryRow(query, args...).Scan(&waiting)
		var unreadable *mysql.MySQLError
		if errors.As(err, &unreadable) && unreadable.Number == 3854 {
			continue // MySQL: somebody else's statement, in another database, is no text
		}
		if r.must(err); waiting > 0 {
			return
		}
	}
	r.t.Fatalf("never waited: %s", statement)
}

func TestOrderThatStaysLockedIsAnError(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.place(at("10:05"))
		tx, err := r.app.BeginTx(t.Context(), nil)
		r.must(err)
		defer tx.Rollback()
		r.must(r.orders(day).Ship(t.Context(), tx, 1))
		o := r.orders(at("13:15"), func(options *orders.Options) {
			options.DB.SetMaxOpenConns(1)
			options.DB.MustExec("SET innodb_lock_wait_timeout = 1")
		})
		next, err := o.Check(t.Context(), jobAt("1", "13:15"))
		if next != nil || err == nil || !strings.Contains(err.Error(), "checking order 1: tried 3 times: Error 1205") {
			t.Errorf("%v, %v", next, err)
		}

		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if next, err := o.Check(ctx, jobAt("1", "13:15")); next != nil || err == nil {
			t.Errorf("with a timeout: %v, %v", next, err)
		}
		r.must(tx.Rollback())
		_, err = o.Check(t.Context(), jobAt("1", "13:15"))
		r.must(err)
		if got := r.alerts(1); !slices.Equal(got, []string{"primary 13:15"}) {
			t.Errorf("after the shipment was rolled back: alerts %q", got)
		}
	})
}

func TestCheckOfSomethingElseIsAnError(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		other := jobAt("1", "13:15")
		other.EntityName = "invoice"
		for _, job := range []prescient.FutureJob{
			other, jobAt("one", "13:15"), jobAt("1 ", "13:15"), jobAt("0x1", "13:15"), jobAt("9223372036854775808", "13:15"),
		} {
			if next, err := r.orders(day).Check(t.Context(), job); next != nil || err == nil || !strings.Contains(err.Error(), "want order and a number") {
				t.Errorf("%s: %v, %v", job.Entity(), next, err)
			}
		}
	})
}
