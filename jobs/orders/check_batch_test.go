package orders_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/jobs/orders"
	"prescient/prescient"
)

// answersOf are those of a batch, each as a time, "settled" or an error.
func answersOf(batch *prescient.Batch) (list []string) {
	for i := range batch.Jobs() {
		next, err := batch.Answer(i)
		switch {
		case err != nil:
			list = append(list, err.Error())
		case next == nil:
			list = append(list, "settled")
		default:
			list = append(list, next.Format("15:04"))
		}
	}
	return list
}

func TestABatchAnswersForEachOrderAsACheckDoes(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		for range 4 {
			r.place(at("10:05"))
		}
		r.ship(at("11:00"), 2)
		_, err := r.orders(at("13:15")).Check(t.Context(), jobAt("3", "13:15")) // by a worker that died then
		r.must(err)
		r.told = nil
		tagged := jobAt("4", "13:15")
		tagged.Tag = "again"
		for range 2 {
			batch := prescient.NewBatch(jobAt("1", "13:15"), jobAt("2", "13:15"), jobAt("3", "13:15"), jobAt("4", "13:15"),
				jobAt("99", "13:15"), jobAt("one", "13:15"), tagged)
			r.must(r.orders(at("13:15:02")).CheckBatch(t.Context(), batch))
			want := []string{"16:05", "settled", "16:05", "16:05", "settled", "checking order/one: want order and a number", "16:05"}
			if got := answersOf(batch); !slices.Equal(got, want) {
				t.Errorf("%q; want %q", got, want)
			}
			for id, want := range map[int64][]string{1: {"primary 13:15"}, 2: nil, 3: {"primary 13:15"}, 4: {"primary 13:15"}} {
				if got := r.alerts(id); !slices.Equal(got, want) {
					t.Errorf("order %d: alerts %q; want %q", id, got, want)
				}
			}
			if len(r.told) != 2 {
				t.Errorf("told of %+v; want orders 1 and 4, once", r.told)
			}
		}
		empty := prescient.NewBatch(jobAt("one", "13:15"))
		if err := r.orders(day).CheckBatch(t.Context(), empty); err != nil || answersOf(empty)[0] != "checking order/one: want order and a number" {
			t.Errorf("%v, %q", err, answersOf(empty))
		}
	})
}

// Orders of one batch whose times differ get the alerts of their own level, each level by one statement.
func TestABatchRaisesTheAlertsOfEachLevel(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		const each = 20
		var jobs []prescient.FutureJob
		for i := range 2 * each {
			placed := at("10:05")
			if i >= each {
				placed = at("13:05")
			}
			jobs = append(jobs, jobAt(fmt.Sprint(r.place(placed).ID), "16:15"))
		}
		r.must(r.orders(at("13:15")).CheckBatch(t.Context(), prescient.NewBatch(early(jobs[:each])...)))
		batch := prescient.NewBatch(jobs...)
		r.must(r.orders(at("16:15")).CheckBatch(t.Context(), batch))
		for i, got := range answersOf(batch) {
			answer, alerts := "settled", []string{"primary 13:15", "escalated 16:15"}
			if i >= each {
				answer, alerts = "19:05", []string{"primary 16:15"}
			}
			if list := r.alerts(int64(i + 1)); got != answer || !slices.Equal(list, alerts) {
				t.Errorf("order %d: %s, alerts %q; want %s, %q", i+1, got, list, answer, alerts)
			}
		}
		if len(r.told) != 3*each {
			t.Errorf("told of %d alerts; want %d", len(r.told), 3*each)
		}
	})
}

// early are the same checks in the slot of 13:15.
func early(jobs []prescient.FutureJob) []prescient.FutureJob {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		jobs[i].NextCheckAt = at("13:15")
	}
	return jobs
}

// One order that is being shipped does not keep the others of a batch from their alerts.
func TestABatchWaitsForAShipmentAndRaisesTheOthersAlerts(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		for range 3 {
			r.place(at("10:05"))
		}
		tx, err := r.app.BeginTx(t.Context(), nil)
		r.must(err)
		defer tx.Rollback()
		r.must(r.orders(day).Ship(t.Context(), tx, 2))

		batch := prescient.NewBatch(jobAt("1", "13:15"), jobAt("2", "13:15"), jobAt("3", "13:15"))
		answered := make(chan error, 1)
		o := r.orders(at("13:15"))
		go func() { answered <- o.CheckBatch(t.Context(), batch) }()
		r.untilWaiting("INSERT IGNORE INTO app_order_alerts")
		r.must(tx.Commit())
		r.must(<-answered)
		if got, want := answersOf(batch), []string{"16:05", "settled", "16:05"}; !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
		if len(r.alerts(1)) != 1 || r.alerts(2) != nil || len(r.alerts(3)) != 1 || len(r.told) != 2 {
			t.Errorf("alerts %q, %q, %q, told of %+v", r.alerts(1), r.alerts(2), r.alerts(3), r.told)
		}
	})
}

// What a server says when it is in trouble, one line a case. A batch never hides it, and answers for
// no row whose alert is not there.
func TestTroubleWithTheServerInABatch(t *testing.T) {
	broken := errors.New("broken")
	deadlock := &mysql.MySQLError{Number: 1213, Message: "Deadlock found"}
	look := func(m sqlmock.Sqlmock) {
		m.ExpectQuery(`SELECT o.id.* WHERE o.id IN \(1,2\) AND`).WillReturnRows(
			sqlmock.NewRows([]string{"id", "looked_at", "placed_at", "primary_slot", "escalated_slot"}).
				AddRow(1, at("13:15:01"), at("10:05"), nil, nil).AddRow(2, at("13:15:01"), at("10:05"), nil, nil))
	}
	raise := func(m sqlmock.Sqlmock) *sqlmock.ExpectedExec {
		m.ExpectBegin()
		return m.ExpectExec(`INSERT IGNORE INTO order_alerts .* WHERE id IN \(1,2\)`).
			WithArgs("primary", "2026-11-20 13:15:01.000000", "2026-11-20 13:15:00.000000")
	}
	each := func(m sqlmock.Sqlmock) {
		for range 2 {
			m.ExpectQuery("SELECT UTC_TIMESTAMP").WillReturnError(broken)
		}
	}
	for _, test := range []struct {
		about   string
		expect  func(m sqlmock.Sqlmock)
		err     string
		answers string // of both
	}{
		{"the look fails", func(m sqlmock.Sqlmock) {
			m.ExpectQuery("SELECT o.id").WillReturnError(broken)
		}, "checking 2 orders: broken", "settled"},
		{"no transaction", func(m sqlmock.Sqlmock) {
			look(m)
			m.ExpectBegin().WillReturnError(broken)
		}, "", "raising the primary alert: broken"},
		{"the alerts fail", func(m sqlmock.Sqlmock) {
			look(m)
			raise(m).WillReturnError(broken)
			m.ExpectRollback()
		}, "", "raising the primary alert: broken"},
		{"nobody knows how many were inserted", func(m sqlmock.Sqlmock) {
			look(m)
			raise(m).WillReturnResult(sqlmock.NewErrorResult(broken))
			m.ExpectRollback()
		}, "", "raising the primary alert: broken"},
		{"nobody knows whether they were committed", func(m sqlmock.Sqlmock) {
			look(m)
			raise(m).WillReturnResult(sqlmock.NewResult(0, 2))
			m.ExpectCommit().WillReturnError(broken)
		}, "", "raising the primary alert: broken"},
		{"a deadlock", func(m sqlmock.Sqlmock) {
			look(m)
			raise(m).WillReturnError(deadlock)
			m.ExpectRollback()
			each(m)
		}, "", ": broken"},
		{"one has its alert by now", func(m sqlmock.Sqlmock) {
			look(m)
			raise(m).WillReturnResult(sqlmock.NewResult(0, 1))
			m.ExpectRollback()
			each(m)
		}, "", ": broken"},
		{"no trouble", func(m sqlmock.Sqlmock) {
			look(m)
			raise(m).WillReturnResult(sqlmock.NewResult(0, 2))
			m.ExpectCommit()
		}, "", "16:05"},
	} {
		t.Run(test.about, func(t *testing.T) {
			db, mock, err := sqlmock.New()
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			test.expect(mock)
			told := 0
			o, err := orders.New(orders.Options{DB: sqlx.NewDb(db, "mysql"), OnAlert: func(context.Context, orders.Alert) { told++ }})
			if err != nil {
				t.Fatal(err)
			}
			batch := prescient.NewBatch(jobAt("1", "13:15"), jobAt("2", "13:15"))
			if err := o.CheckBatch(t.Context(), batch); (err == nil) != (test.err == "") || err != nil && (err.Error() != test.err || !errors.Is(err, broken)) {
				t.Errorf("%v; want %q", err, test.err)
			}
			for i, got := range answersOf(batch) {
				if _, err := batch.Answer(i); !strings.HasSuffix(got, test.answers) || err != nil && !errors.Is(err, broken) {
					t.Errorf("row %d: %s; want %q", i, got, test.answers)
				}
			}
			if want := map[bool]int{true: 2}[test.answers == "16:05"]; told != want {
				t.Errorf("told of %d; want %d", told, want)
			}
			if err := mock.ExpectationsWereMet(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestABatchNeedsADatabase(t *testing.T) {
	o, err := orders.New(orders.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.CheckBatch(t.Context(), prescient.NewBatch()); !errors.Is(err, prescient.ErrInvalid) {
		t.Error(err)
	}
	if err := o.RegisterBatch(prescient.NewRegistry(), prescient.Guards{Timeout: time.Second}); !errors.Is(err, prescient.ErrInvalid) {
		t.Error(err)
	}
}
