package reslot

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/slots"
	"prescient/sql/migrate"
)

func (r *reslot) gridOfTable(ctx context.Context) (is store.TableGrid, err error) {
	err = r.retry(ctx, "looking at the table", func() error {
		is, err = r.tables.ReadGridOfTable(ctx, r.db)
		return err
	})
	return is, err
}

// alter drops the CHECK and changes the DEFAULT, in one statement.
func (r *reslot) alter(ctx context.Context, is store.TableGrid) error {
	r.tell(StepAlter)
	drop := ""
	if is.Checked != 0 {
		var version string
		if err := r.retry(ctx, "asking for the version", func() error {
			return store.QueryRow(ctx, r.db, []any{&version}, "SELECT VERSION()")
		}); err != nil {
			return err
		}
		drop = "DROP CHECK " + r.tables.Prefix + "future_job_on_grid,"
		if strings.Contains(version, "MariaDB") {
			drop = "DROP CONSTRAINT " + r.tables.Prefix + "future_job_on_grid,"
		}
	}
	return r.ddl(ctx, r.tables.Fill("operate/reslot_default", append(r.gridWords(), "{drop}", drop)...))
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
		r.tell(StepCheck)
		err := r.ddl(ctx, r.tables.Fill("operate/reslot_check", r.gridWords()...))
		if !errno.Is(err, errno.CheckMySQL, errno.CheckMariaDB) {
			return err
		}
		r.options.Log.Info().Msg("rows came off the new grid since they were looked for; moving them")
	}
	return fmt.Errorf("rows kept coming that are off the new grid, %d times: stop whoever inserts with the old one, and run it again", rounds)
}

// slotPage is how many slots are looked up at a time.
const slotPage = 100

// moveAll moves what is off the grid, slot by slot. Moved rows lie ahead and are on the grid.
func (r *reslot) moveAll(ctx context.Context) error {
	r.tell(StepMove)
	for from := prescient.EarliestDue; ; {
		var page []time.Time
		err := r.retry(ctx, "looking for slots", func() error {
			page = nil
			return r.db.SelectContext(ctx, &page, r.tables.Stmt.Get("sweep/overdue"), from, prescient.LatestSlot, slotPage)
		})
		if err != nil {
			return err
		}
		for _, slot := range page {
			r.at.Slots++
			if !r.tables.Grid.On(slot) {
				if err := r.moveSlot(ctx, slot); err != nil {
					return err
				}
			}
			from = slot.Add(time.Second)
		}
		if len(page) < slotPage {
			return nil
		}
	}
}

func (r *reslot) moveSlot(ctx context.Context, slot time.Time) error {
	r.at.Slot = slot
	first, last := store.BucketRange(0, 1)
	move := r.tables.Fill("operate/reslot_move", r.gridWords()...)
	target := r.tables.Grid.Ceil(slot)
	for more := true; more; {
		end := last
		var found [][]byte
		err := r.retry(ctx, "reading a slot", func() error {
			found = nil
			return r.db.SelectContext(ctx, &found, r.tables.Stmt.Get("sweep/batch_end"), slot, first[:], last[:], r.options.Batch-1)
		})
		if err != nil {
			return err
		}
		if more = len(found) > 0; more {
			end = prescient.Key(found[0])
		}
		var n int
		err = r.retry(ctx, "moving rows of slot "+slots.Stamp(slot), func() (err error) {
			n, err = store.Affected(ctx, r.db, move, target, target, slot, first[:], end[:])
			return err
		})
		if err != nil {
			return err
		}
		r.did.Rows += n
		r.at.Rows = r.did.Rows
		r.tell(StepMove)
		var ok bool
		if first, ok = end.Next(); !ok {
			return nil
		}
	}
	return nil
}

// once runs a statement that finds nothing to do when it was done before.
func (r *reslot) once(ctx context.Context, statement string, args ...any) error {
	return r.retry(ctx, statement, func() error {
		_, err := r.db.ExecContext(ctx, r.tables.Stmt.Get(statement), args...)
		return err
	})
}

// announce stops everybody, and writes the audit of the change, in one transaction: where the entry cannot be written nobody is stopped.
func (r *reslot) announce(ctx context.Context) error {
	return r.retry(ctx, "announcing the change", func() error {
		tx, err := r.db.BeginTxx(ctx, nil)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, r.tables.Stmt.Get("operate/reslot_announce"), r.seconds(), r.seconds())
		if err == nil {
			err = r.record(ctx, tx, "reslot", r.did.From, r.did.To)
		}
		if err != nil {
			return errors.Join(err, store.Rollback(tx.Tx))
		}
		return tx.Commit()
	})
}

// record writes the audit of a change of the resolution.
func (r *reslot) record(ctx context.Context, db prescient.DB, verb string, from, to time.Duration) error {
	type state struct {
		Resolution string `json:"resolution"`
	}
	return audit.On(&r.tables).Record(ctx, db, audit.Entry{Kind: audit.Installation, ID: audit.InstallationID, Verb: verb,
		Before: state{from.String()}, After: state{to.String()}})
}

// ddl alters the table. It waits for it briefly, and again and again: whoever queues behind a waiting ALTER waits with it.
func (r *reslot) ddl(ctx context.Context, statement string) error {
	err := r.retry(ctx, "altering the table", func() error { return migrate.Alter(ctx, r.db.DB, r.options.Patience, r, statement) })
	if errno.Is(err, errno.NoSuchConstraintMySQL, errno.NoSuchConstraintMariaDB, errno.DuplicateCheckMySQL, errno.DuplicateCheckMariaDB) {
		// Its first try had gone through, unseen: what it was to do is done, or the next run finds the rest.
		return fmt.Errorf("the table was altered meanwhile; run it again: %w", err)
	}
	return err
}

// Held says who holds up the change of the table.
func (r *reslot) Held(by *migrate.HeldError) {
	r.options.Log.Warn().Err(by).Msg("altering the table is tried again")
}

// rowsHeld adds to an error who may have the rows for which a statement waited in vain.
func (r *reslot) rowsHeld(ctx context.Context, err error) error {
	return migrate.Schema{Prefix: r.options.Prefix}.RowsHeld(ctx, r.db, err)
}

// retry repeats what met a passing error: locks, a server that is away.
func (r *reslot) retry(ctx context.Context, what string, do func() error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := do()
		if err != nil && (!errno.Passing(err) || errors.Is(err, migrate.ErrHeld) || ctx.Err() != nil) {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(store.NewBackOff()), backoff.WithMaxElapsedTime(r.options.Patience),
		backoff.WithNotify(func(err error, _ time.Duration) {
			r.options.Log.Warn().Err(r.rowsHeld(ctx, err)).Msg(what + " is tried again")
		}))
	if err != nil {
		return fmt.Errorf("%s: %w", what, r.rowsHeld(ctx, err))
	}
	return nil
}
