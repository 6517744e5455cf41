package migrate

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	text "prescient/sql"
)

// DefaultPatience is how long a change of tables is tried again while somebody has them open.
const DefaultPatience = time.Minute

const (
	// tryWaits is how many seconds a try waits for its table at most, on MariaDB up to three times: it asks for it step by step.
	tryWaits = 1
	// tryTakes is how many seconds the first try takes at most where the whole of it is bounded, and mostTakes any while somebody is seen to hold the table.
	tryTakes, mostTakes = 3, 12
	// quickEvery is the time between two tries that do not wait for the table, jittered by a half; four times what the last
	// one took are added, since one may copy, or make files, before it asks for the table.
	quickEvery = 100 * time.Millisecond
	// maxQuick bounds how long that goes on, and half of the patience does.
	maxQuick = 20 * time.Second
	// restBetween and maxRest are the least and the most time between two tries that wait, jittered by a half: whoever else wants the
	// table is to meet one of them.
	restBetween, maxRest = 3 * time.Second, 15 * time.Second
)

// DDL sends what alters tables on one connection. It tries again while somebody has a table open, since a statement that waits for
// its table holds up whoever comes to it meanwhile. So where the server has tries that do not wait, they come first. They do not get
// a table that is never free; then ones that wait a second do, with time between them in which others go on.
//
// Vitess answers that lock_wait_timeout is set, and sets nothing. There the whole try of what is Repeatable is bounded in its place, each by twice as
// much as the one before, and by nothing once nobody is seen who has the table, since then it is the work that takes long.
//
// A statement whose context is over is ended on the server as well: MySQL goes on with what a client gave up.
type DDL struct {
	conn  *sql.Conn
	db    *sql.DB // for a second connection, which ends what the first one waits for
	left  time.Duration
	quick bool // the server has tries that do not wait
	waits int  // one more than the seconds that the session has; 0 where that is not known
	self  session
	whole bool // on Vitess
	// Repeatable says that a statement may be sent again where it is not known whether it was done; Unsure, that the last one was.
	Repeatable, Unsure bool
	// Watch, where given, is told of each try that waited in vain.
	Watch Watcher
}

// NewDDL takes a connection of the pool, and bounds by a second how long all that is sent on it waits for tables: it is to be closed for
// good afterwards. The patience is for all statements together.
func NewDDL(ctx context.Context, db *sql.DB, conn *sql.Conn, patience time.Duration) (*DDL, error) {
	d := &DDL{conn: conn, db: db}
	d.HavePatience(patience)
	var err error
	if d.self, err = sessionOf(ctx, conn); err != nil {
		return nil, err
	}
	server, err := text.ServerOf(ctx, conn)
	if err != nil {
		return nil, err
	}
	if d.whole = server.Placed(); d.whole {
		return d, nil
	}
	if d.quick, err = d.canBeQuick(ctx); err != nil {
		return nil, err
	}
	return d, d.waitFor(ctx, tryWaits)
}

// alter calls a function with a connection for what alters tables.
func alter(ctx context.Context, db *sql.DB, patience time.Duration, do func(*DDL) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // for what is set on it
		_ = conn.Close()
	}()
	d, err := NewDDL(ctx, db, conn, patience)
	if err != nil {
		return err
	}
	return do(d)
}

// Alter sends one statement that alters a table, on a connection of its own. The error wraps ErrHeld where somebody had the table
// open for all of the patience. The watcher may be nil.
func Alter(ctx context.Context, db *sql.DB, patience time.Duration, watch Watcher, statement string) error {
	return alter(ctx, db, patience, func(d *DDL) error {
		// The server copies no row with a day that its sql_mode does not take, whoever wrote it.
		if _, err := d.conn.ExecContext(ctx, "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_ENGINE_SUBSTITUTION'"); err != nil {
			return fmt.Errorf("taking rows as they are: %w", err)
		}
		d.Watch = watch
		return d.Exec(ctx, statement)
	})
}

// HavePatience says how long the statements to come are tried again, all together; DefaultPatience for 0.
func (d *DDL) HavePatience(patience time.Duration) {
	if patience == 0 {
		patience = DefaultPatience
	}
	d.left = patience
}

// Exec sends a statement. The error wraps ErrHeld where somebody had its table open until the patience was over.
func (d *DDL) Exec(ctx context.Context, statement string, args ...any) error {
	var refused time.Time // for the first time
	defer func() {
		if !refused.IsZero() {
			d.left -= time.Since(refused)
		}
	}()
	quick, rest, most := d.quick, restBetween, tryWaits
	if d.Unsure = false; d.whole {
		defer func() { _ = d.waitFor(context.WithoutCancel(ctx), unbounded) }() // what else is sent may take longer
		most = unbounded
		if d.Repeatable {
			most = tryTakes
		}
	}
	for {
		seconds := most
		if quick {
			seconds = 0
		}
		if err := d.waitFor(ctx, seconds); err != nil {
			return err
		}
		began := time.Now()
		err := d.send(ctx, statement, args)
		unknown := d.whole && seconds != unbounded && outOfTime(err)
		if !unknown && !isHeld(err) {
			return d.afterwards(ctx, err)
		}
		d.Unsure = d.Unsure || unknown
		if refused.IsZero() {
			refused = time.Now()
		}
		if quick {
			nap := quickEvery/2 + rand.N(quickEvery) + 4*time.Since(began)
			if quick = time.Since(refused)+nap < min(maxQuick, d.left/2); !quick {
				continue
			}
			if err := sleep(ctx, nap); err != nil {
				return err
			}
			continue
		}
		held := d.heldBy(ctx, statement, err)
		held.Tried = (time.Since(refused) + time.Duration(tryWaits)*time.Second).Round(time.Second)
		if d.whole && most != unbounded {
			switch {
			case held.nobody && unknown: // it takes as long by itself
				most = unbounded
				continue
			case len(held.By) > 0: // others wait behind each try
				most = min(2*most, mostTakes)
			default:
				most *= 2
			}
		}
		if d.Watch != nil {
			d.Watch.Held(held)
		}
		nap := rest/2 + rand.N(rest)
		if time.Since(refused)+nap > d.left {
			return held
		}
		if err := sleep(ctx, nap); err != nil {
			return err
		}
		rest = min(2*rest, maxRest)
	}
}

// afterwards leaves the session so that what else is sent on it waits for tables, and a moment only.
func (d *DDL) afterwards(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	if d.whole {
		return nil
	}
	return d.waitFor(ctx, tryWaits)
}

// isHeld says whether somebody has what a statement wants.
func isHeld(err error) bool { return refused(err, errLockWaitTimeout, errDeadlock) }

// outOfTime says whether a try ended since its time was over: the server may have done it all the same.
func outOfTime(err error) bool { return refused(err, errQueryInterrupted, errQueryTimeout) }

// canBeQuick finds out whether tries need not wait: MariaDB takes a lock_wait_timeout of 0, MySQL in strict mode refuses it. Not in a
// Galera cluster: each node does the change for itself, and one that found its table held and did not wait would have other tables than
// the rest.
func (d *DDL) canBeQuick(ctx context.Context) (bool, error) {
	var cluster bool
	err := d.conn.QueryRowContext(ctx, "SELECT @@wsrep_on").Scan(&cluster)
	if err != nil && !refused(err, errUnknownVariable) {
		return false, fmt.Errorf("asking whether this is a cluster: %w", err)
	}
	if cluster {
		return false, nil
	}
	if err = d.waitFor(ctx, 0); refused(err, errWrongValue) {
		return false, nil
	}
	return err == nil, err
}

// unbounded is for a try that may take as long as it needs.
const unbounded = 0

// waitFor bounds the wait for a table, or a whole try.
func (d *DDL) waitFor(ctx context.Context, seconds int) error {
	if d.waits == seconds+1 {
		return nil
	}
	d.waits = 0
	bound := fmt.Sprintf("SET SESSION lock_wait_timeout = %d", seconds)
	if d.whole {
		bound = fmt.Sprintf("SET query_timeout = %d", 1000*seconds)
	}
	if _, err := d.conn.ExecContext(ctx, bound); err != nil {
		return fmt.Errorf("bounding the wait for tables: %w", err)
	}
	d.waits = seconds + 1
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// heldBy asks who has what the statement wants.
func (d *DDL) heldBy(ctx context.Context, statement string, why error) *HeldError {
	if strings.HasPrefix(statement, "EXECUTE ") { // a migration prepares what it may leave out
		_ = d.conn.QueryRowContext(ctx, "SELECT @prescient_ddl").Scan(&statement)
	}
	names := changes(statement)
	held := whoHolds(ctx, d.conn, names)
	held.Of, held.Err = strings.Join(names, ", "), why
	return held
}
