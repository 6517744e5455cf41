package prescient

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
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
	eachServer(t, func(t *testing.T, r *rig) {
		refuse := false
		connector, _, err := newConnector(r.d.DSN, DefaultLease, TLS{})
		r.must(err)
		one := &connector.(*hosts).list[0]
		one.connector = refusingConnector{one.connector, &refuse}
		db := sqlx.NewDb(sql.OpenDB(connector), "mysql")
		defer func() { r.must(db.Close()) }()
		db.SetMaxOpenConns(1)
		r.exec("CREATE TABLE left_over (id INT PRIMARY KEY)")
		ends := map[string]func(*sqlx.Tx) error{
			"COMMIT":   func(tx *sqlx.Tx) error { return tx.Commit() },
			"ROLLBACK": func(tx *sqlx.Tx) error { return tx.Rollback() },
		}
		for name, end := range ends {
			refuse = true
			tx, err := db.Beginx()
			r.must(err)
			_, err = tx.Exec("INSERT INTO left_over VALUES (1)")
			r.must(err)
			if err := end(tx); !errors.Is(err, errRefused) {
				t.Errorf("%s: %v; want that it is refused", name, err)
			}
			next, err := db.Beginx()
			r.must(err)
			r.must(next.Commit())
			if n := r.count("SELECT COUNT(*) FROM left_over"); n != 0 {
				t.Errorf("after a %s that was refused the next transaction committed %d rows", name, n)
			}
		}
	})
}

func TestAnInsertThatIsNotCommittedDoesNotHoldUpTheMovesOfOthers(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const rows = 40
		r.insertAll("check", numbered(rows)...)
		tx, err := r.appAt(at("12:55")).Begin()
		r.must(err)
		for _, key := range []string{"a"} {
			_, err := r.client.Insert(t.Context(), tx, NewJob{Entity: Entity{"order", key}, JobExec: "late", DueAt: at("15:00")})
			r.must(err)
		}
		var c calls
		execs := registry("check", func(ctx context.Context, job FutureJob) (*time.Time, error) {
			_, _ = c.count(ctx, job)
			return At(at("14:00")), nil
		}, Guards{})
		ran := make(chan Figures)
		go func() { ran <- r.runAt(at("13:15:01"), execs, WorkerOptions{}) }()
		r.eventually("half of the rows are moved while the insert is open", func() bool {
			return r.count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at = '"+at("14:00").Format(time.DateTime)+"'") >= rows/2
		})
		r.must(tx.Commit())
		if figures := <-ran; figures.Moved != rows || figures.LeasesLost != 0 {
			t.Errorf("%d rows were moved, %d leases lost; want %d, and none", figures.Moved, figures.LeasesLost, rows)
		}
		c.eachOnce(t, rows)
		r.balanced()
	})
}
