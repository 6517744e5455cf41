package migrate

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

const (
	lockBeat  = 5 * time.Second // how often whoever has a rowLock shows that it lives
	lockPause = time.Second     // between two reads of whoever waits for it
	lockReads = 30              // without a beat between them, after which it is taken over
)

// rowLock is a lock that holds on all nodes of a cluster: a row with the name of its holder, changed by statements of
// their own, of which a cluster lets one win. The holder counts up beside its name all the while. Who finds no new
// beat in many reads takes the lock over. No clock is read. Each read begins with a write: while DDL holds up the holder's
// beat on all nodes, it holds up the reads as well, and none counts.
type rowLock struct {
	errand
	conn   *sql.Conn
	table  string
	holder string
}

// errand is what a lock is taken for.
type errand struct {
	row  int // of the table
	wait time.Duration
	busy error // where the wait is over
}

var (
	migrating = errand{row: 1, wait: lockPatience * time.Second, busy: ErrLocked}
	// pruning waits a little longer than it takes until the lock of one who died is taken over.
	pruning = errand{row: 3, wait: lockReads*lockPause + 10*time.Second, busy: ErrPruning}
)

// waitersRow is written to by those who wait.
const waitersRow = 2

func newRowLock(conn *sql.Conn, table string, why errand) *rowLock {
	host, _ := os.Hostname() // only for people
	return &rowLock{errand: why, conn: conn, table: table, holder: fmt.Sprintf("%.60s, process %d, %s", host, os.Getpid(), rand.Text())}
}

// beat is what the row says.
type beat struct {
	holder string
	count  int64
}

// take waits for the lock, for as long as its errand allows.
func (l *rowLock) take(ctx context.Context) error {
	var last beat
	reads := 0
	for until := time.Now().Add(l.wait); ; {
		now, err := l.read(ctx)
		switch {
		case lostConflict(err):
		case noSuchTable(err):
			if err := l.make(ctx); err != nil && !lostConflict(err) {
				return err
			}
			continue
		case err != nil:
			return err
		default:
			if now != last {
				last, reads = now, 0
			}
			if reads++; now.holder == "" || reads > lockReads {
				if took, err := l.replace(ctx, now); took || err != nil && !lostConflict(err) {
					return err
				}
			}
		}
		if time.Now().After(until) {
			return fmt.Errorf("%w: waited %s for %s", l.busy, l.wait, last.holder)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// make makes the table: the locks, and a row for those who wait.
func (l *rowLock) make(ctx context.Context) error {
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS " + l.table + " (id TINYINT UNSIGNED NOT NULL PRIMARY KEY, holder VARCHAR(128) NOT NULL," +
			" beats BIGINT NOT NULL) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COMMENT = 'prescient: who alters the tables'",
		"INSERT IGNORE INTO " + l.table + " (id, holder, beats) VALUES (1, '', 0), (2, 'who looks', 0), (3, '', 0)",
	} {
		if _, err := l.conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("making %s: %w", l.table, err)
		}
	}
	return nil
}

func (l *rowLock) read(ctx context.Context) (now beat, err error) {
	if _, err = l.conn.ExecContext(ctx, "UPDATE "+l.table+" SET beats = beats + 1 WHERE id = ?", waitersRow); err != nil {
		return now, err
	}
	err = l.conn.QueryRowContext(ctx, "SELECT holder, beats FROM "+l.table+" WHERE id = ?", l.row).Scan(&now.holder, &now.count)
	if errors.Is(err, sql.ErrNoRows) { // its maker died between two statements, or knew no such lock
		return now, l.make(ctx)
	}
	return now, err
}

// replace takes the lock if the row is still as it was seen.
func (l *rowLock) replace(ctx context.Context, seen beat) (took bool, err error) {
	result, err := l.conn.ExecContext(ctx, "UPDATE "+l.table+" SET holder = ?, beats = beats + 1 WHERE id = ? AND holder = ? AND beats = ?",
		l.holder, l.row, seen.holder, seen.count)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// keep shows that the holder lives, until the lock is given up by what it returns.
func (l *rowLock) keep(ctx context.Context) (unlock func()) {
	ctx = context.WithoutCancel(ctx)
	beating, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-beating.Done():
				return
			case <-time.After(lockBeat):
			}
			// One that fails is made up for by the next.
			_, _ = l.conn.ExecContext(ctx, "UPDATE "+l.table+" SET beats = beats + 1 WHERE id = ? AND holder = ?", l.row, l.holder)
		}
	})
	return func() {
		stop()
		done.Wait()
		// If this fails it is taken over in half a minute.
		_, _ = l.conn.ExecContext(ctx, "UPDATE "+l.table+" SET holder = '', beats = beats + 1 WHERE id = ? AND holder = ?", l.row, l.holder)
	}
}

// lostConflict says whether another was first, on this node or another.
func lostConflict(err error) bool {
	return refused(err, errCheckRead, errLockWaitTimeout, errDeadlock, errTransactionRollback)
}
