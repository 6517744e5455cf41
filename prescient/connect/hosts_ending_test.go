package connect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
)

// refusing is a connection whose server refuses to end the next transaction, and leaves it open.
type refusing struct {
	fullConn
	next *bool
	now  bool
}

type refusingTx struct{ driver.Tx }

var errRefused = errors.New("refused")

func (refusingTx) Commit() error   { return errRefused }
func (refusingTx) Rollback() error { return errRefused }

func (c *refusing) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	tx, err := c.fullConn.BeginTx(ctx, options)
	if err != nil || !*c.next {
		return tx, err
	}
	*c.next, c.now = false, true
	return refusingTx{tx}, nil
}

// ExecContext refuses the COMMIT that has a deadline, which is a statement.
func (c *refusing) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.now && query == "COMMIT" {
		return nil, errRefused
	}
	return c.fullConn.ExecContext(ctx, query, args)
}

type refusingConnector struct {
	driver.Connector
	next *bool
}

func (c refusingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &refusing{fullConn: conn.(fullConn), next: c.next}, nil
}

func TestATransactionThatCouldNotBeEndedIsNotCommittedByTheNext(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		refuse := false
		connector, _, err := newConnector(r.D.DSN, Options{Lease: prescient.DefaultLease})
		r.Must(err)
		one := &connector.list[0]
		one.connector = refusingConnector{one.connector, &refuse}
		db := sqlx.NewDb(sql.OpenDB(connector), "mysql")
		defer func() { r.Must(db.Close()) }()
		db.SetMaxOpenConns(1)
		r.Exec("CREATE TABLE left_over (id INT PRIMARY KEY)")
		ends := map[string]func(*sqlx.Tx) error{
			"COMMIT":   func(tx *sqlx.Tx) error { return tx.Commit() },
			"ROLLBACK": func(tx *sqlx.Tx) error { return tx.Rollback() },
		}
		for name, end := range ends {
			refuse = true
			tx, err := db.Beginx()
			r.Must(err)
			_, err = tx.Exec("INSERT INTO left_over VALUES (1)")
			r.Must(err)
			if err := end(tx); !errors.Is(err, errRefused) {
				t.Errorf("%s: %v; want that it is refused", name, err)
			}
			next, err := db.Beginx()
			r.Must(err)
			r.Must(next.Commit())
			if n := r.Count("SELECT COUNT(*) FROM left_over"); n != 0 {
				t.Errorf("after a %s that was refused the next transaction committed %d rows", name, n)
			}
		}
	})
}
