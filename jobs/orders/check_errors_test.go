package orders_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/jobs/orders"
)

// What a server says when it is in trouble, one line a case. A check never hides it, and never answers "settled".
func TestTroubleWithTheServer(t *testing.T) {
	broken := errors.New("broken")
	deadlock := &mysql.MySQLError{Number: 1213, Message: "Deadlock found"}
	look := func(m sqlmock.Sqlmock) {
		m.ExpectQuery("SELECT UTC_TIMESTAMP").WithArgs(1).WillReturnRows(
			sqlmock.NewRows([]string{"looked_at", "placed_at", "shipped", "primary_slot", "escalated_slot"}).
				AddRow(at("13:15:01"), at("10:05"), 0, nil, nil))
	}
	raise := func(m sqlmock.Sqlmock) *sqlmock.ExpectedExec {
		return m.ExpectExec("INSERT IGNORE INTO order_alerts").
			WithArgs("primary", "2026-11-20 13:15:01.000000", "2026-11-20 13:15:00.000000", 1)
	}
	for _, test := range []struct {
		about  string
		expect func(m sqlmock.Sqlmock)
		want   string // in the error; empty for an answer
		wraps  error
	}{
		{"the look fails", func(m sqlmock.Sqlmock) {
			m.ExpectQuery("SELECT").WillReturnError(broken)
		}, "checking order 1: broken", broken},
		{"the alert fails", func(m sqlmock.Sqlmock) {
			look(m)
			raise(m).WillReturnError(broken)
		}, "checking order 1: raising the primary alert: broken", broken},
		{"nobody knows whether it was inserted", func(m sqlmock.Sqlmock) {
			look(m)
			raise(m).WillReturnResult(sqlmock.NewErrorResult(broken))
		}, "raising the primary alert: broken", broken},
		{"one deadlock", func(m sqlmock.Sqlmock) {
			look(m)
			raise(m).WillReturnError(deadlock)
			look(m)
			raise(m).WillReturnResult(sqlmock.NewResult(0, 1))
		}, "", nil},
		{"deadlocks", func(m sqlmock.Sqlmock) {
			for range 3 {
				look(m)
				raise(m).WillReturnError(deadlock)
			}
		}, "checking order 1: tried 3 times: Error 1213: Deadlock found", deadlock},
		{"the order changes all the time", func(m sqlmock.Sqlmock) {
			for range 3 {
				look(m)
				raise(m).WillReturnResult(sqlmock.NewResult(0, 0))
			}
		}, "checking order 1: it changed 3 times", nil},
	} {
		t.Run(test.about, func(t *testing.T) {
			db, mock, err := sqlmock.New()
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			test.expect(mock)
			o, err := orders.New(orders.Options{DB: sqlx.NewDb(db, "mysql")})
			if err != nil {
				t.Fatal(err)
			}
			next, err := o.Check(t.Context(), jobAt("1", "13:15"))
			switch {
			case test.want == "":
				if err != nil || next == nil || !next.Equal(at("10:05").Add(6*time.Hour)) {
					t.Errorf("%v, %v", next, err)
				}
			case next != nil || err == nil || !strings.Contains(err.Error(), test.want):
				t.Errorf("%v, %v; want %q in the error", next, err, test.want)
			case test.wraps != nil && !errors.Is(err, test.wraps):
				t.Errorf("%v does not wrap %v", err, test.wraps)
			}
			if err := mock.ExpectationsWereMet(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestShipAndCreateTablesPassOnTheServersErrors(t *testing.T) {
	db, mock, err := sqlmock.New()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	broken := errors.New("broken")
	mock.ExpectExec("UPDATE orders").WillReturnError(broken)
	mock.ExpectExec("UPDATE orders").WillReturnResult(sqlmock.NewErrorResult(broken))
	mock.ExpectExec("UPDATE orders").WillReturnResult(sqlmock.NewResult(0, 0))
	mock.ExpectQuery("SELECT id FROM orders").WillReturnError(broken)
	mock.ExpectExec("CREATE TABLE IF NOT EXISTS orders").WillReturnError(broken)

	o, err := orders.New(orders.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := o.Ship(t.Context(), db, 1); !errors.Is(err, broken) || errors.Is(err, orders.ErrNoOrder) {
			t.Error(err)
		}
	}
	if err := orders.CreateTables(t.Context(), db, ""); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := mock.ExpectationsWereMet(); err != nil {
		t.Error(err)
	}
}
