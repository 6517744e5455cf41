package prescient

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// tableGrid is the resolution that future_job itself has: that of its CHECK, zero where there is none, and that by
// which its DEFAULT fills in the slot.
type tableGrid struct{ checked, filled time.Duration }

var (
	inCheck   = regexp.MustCompile(`(?i)(?:%|\bMOD\b)\s*(\d+)`)
	inDefault = regexp.MustCompile(`(?i)\bDIV\s+(\d+)`)
)

// readTableGrid reads it out of the expressions, which each server spells in its own way.
func readTableGrid(filled, checked string) tableGrid {
	number := func(pattern *regexp.Regexp, expression string, unit time.Duration) time.Duration {
		found := pattern.FindStringSubmatch(expression)
		if found == nil {
			return 0
		}
		n, _ := strconv.ParseInt(found[1], 10, 64) // digits; too many make a number that no grid has
		return time.Duration(n) * unit
	}
	return tableGrid{checked: number(inCheck, checked, time.Second), filled: number(inDefault, filled, time.Microsecond)}
}

func (t *tables) readGridOfTable(ctx context.Context, db DB) (tableGrid, error) {
	var filled, checked sql.NullString
	err := queryRow(ctx, db, []any{&filled, &checked}, t.stmt.Get("operate/grid"), t.prefix+"future_job", t.prefix+"future_job_on_grid")
	if err != nil {
		return tableGrid{}, fmt.Errorf("reading DEFAULT and CHECK of %sfuture_job: %w", t.prefix, err)
	}
	return readTableGrid(filled.String, checked.String), nil
}

func (r *reslot) gridOfTable(ctx context.Context) (is tableGrid, err error) {
	err = r.retry(ctx, "looking at the table", func() error {
		is, err = r.readGridOfTable(ctx, r.db)
		return err
	})
	return is, err
}

// alter drops the CHECK and changes the DEFAULT, in one statement.
func (r *reslot) alter(ctx context.Context, is tableGrid) error {
	r.tell(ReslotAlter)
	drop := ""
	if is.checked != 0 {
		var version string
		if err := r.retry(ctx, "asking for the version", func() error {
			return queryRow(ctx, r.db, []any{&version}, "SELECT VERSION()")
		}); err != nil {
			return err
		}
		drop = "DROP CHECK " + r.prefix + "future_job_on_grid,"
		if strings.Contains(version, "MariaDB") {
			drop = "DROP CONSTRAINT " + r.prefix + "future_job_on_grid,"
		}
	}
	return r.ddl(ctx, r.fill("operate/reslot_default", append(r.gridWords(), "{drop}", drop)...))
}

// gridWords fill the grid into a statement.
func (r *reslot) gridWords() []string {
	return []string{"{seconds}", strconv.FormatInt(r.seconds(), 10), "{micros}", strconv.FormatInt(r.seconds()*1e6, 10)}
}

// moveAndCheck moves rows until the CHECK finds none off the grid.
func (r *reslot) moveAndCheck(ctx context.Context) error {
	const rounds = 20
	for range rounds {
		if err := r.moveAll(ctx); err != nil {
			return err
		}
		r.tell(ReslotCheck)
		err := r.ddl(ctx, r.fill("operate/reslot_check", r.gridWords()...))
		if !isError(err, errCheckMySQL, errCheckMariaDB) {
			return err
		}
		r.options.Log.Info().Msg("rows came off the new grid since they were looked for; moving them")
	}
	return fmt.Errorf("rows kept coming that are off the new grid, %d times: stop whoever inserts with the old one, and run it again", rounds)
}

// moveAll moves what is off the grid, slot by slot. Moved rows lie ahead and are on the grid.
func (r *reslot) moveAll(ctx context.Context) error {
	r.tell(ReslotMove)
	for from := earliestDue; ; {
		var page []time.Time
		err := r.retry(ctx, "looking for slots", func() error {
			page = nil
			return r.db.SelectContext(ctx, &page, r.stmt.Get("sweep/overdue"), from, latestSlot, sweepPage)
		})
		if err != nil {
			return err
		}
		for _, slot := range page {
			r.at.Slots++
			if !r.grid.On(slot) {
				if err := r.moveSlot(ctx, slot); err != nil {
					return err
				}
			}
			from = slot.Add(time.Second)
		}
		if len(page) < sweepPage {
			return nil
		}
	}
}

// latestSlot is after every slot that a column can hold.
var latestSlot = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

func (r *reslot) moveSlot(ctx context.Context, slot time.Time) error {
	r.at.Slot = slot
	first, last := bucketRange(0, 1)
	move := r.fill("operate/reslot_move", r.gridWords()...)
	target := r.grid.Ceil(slot)
	for more := true; more; {
		end := last
		var found [][]byte
		err := r.retry(ctx, "reading a slot", func() error {
			found = nil
			return r.db.SelectContext(ctx, &found, r.stmt.Get("sweep/batch_end"), slot, first[:], last[:], r.options.Batch-1)
		})
		if err != nil {
			return err
		}
		if more = len(found) > 0; more {
			end = Key(found[0])
		}
		var n int
		err = r.retry(ctx, "moving rows of slot "+stamp(slot), func() (err error) {
			n, err = affected(ctx, r.db, move, target, target, slot, first[:], end[:])
			return err
		})
		if err != nil {
			return err
		}
		r.did.Rows += n
		r.at.Rows = r.did.Rows
		r.tell(ReslotMove)
		var ok bool
		if first, ok = end.next(); !ok {
			return nil
		}
	}
	return nil
}

// once runs a statement that finds nothing to do when it was done before.
func (r *reslot) once(ctx context.Context, statement string, args ...any) error {
	return r.retry(ctx, statement, func() error {
		_, err := r.db.ExecContext(ctx, r.stmt.Get(statement), args...)
		return err
	})
}

// ddl alters the table, with short waits for its lock: whoever queues behind a waiting ALTER waits with it.
func (r *reslot) ddl(ctx context.Context, statement string) error {
	err := r.retry(ctx, "altering the table", func() (err error) {
		conn, err := r.db.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() {
			_, undo := conn.ExecContext(context.WithoutCancel(ctx), "SET SESSION lock_wait_timeout = DEFAULT")
			err = errors.Join(err, undo, conn.Close())
		}()
		if _, err := conn.ExecContext(ctx, "SET SESSION lock_wait_timeout = 2"); err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, statement)
		return err
	})
	if isError(err, errNoSuchConstraintMySQL, errNoSuchConstraintMariaDB, errDuplicateCheckMySQL, errDuplicateCheckMariaDB) {
		// Its first try had gone through, unseen: what it was to do is done, or the next run finds the rest.
		return fmt.Errorf("the table was altered meanwhile; run it again: %w", err)
	}
	return err
}

// Numbers of the errors for a constraint that is not there, or is there already.
const (
	errNoSuchConstraintMariaDB = 1091
	errNoSuchConstraintMySQL   = 3821
	errDuplicateCheckMariaDB   = 1826
	errDuplicateCheckMySQL     = 3822
)

// retry repeats what met a passing error: locks, a server that is away.
func (r *reslot) retry(ctx context.Context, what string, do func() error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := do()
		if err != nil && !passing(err) {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(newBackOff()), backoff.WithMaxElapsedTime(r.options.Patience),
		backoff.WithNotify(func(err error, _ time.Duration) {
			r.options.Log.Warn().Err(err).Msg(what + " is tried again")
		}))
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
