package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/localserver"
)

// day is the resolution where due rows are run: the slot that is now stays the same until midnight, UTC.
const day = 24 * time.Hour

// stage is an installation with rows pending, to which the due ones are added before each turn.
type stage struct {
	*place
	slot time.Time
	due  int      // how many are due in a turn
	kept int      // how many are kept ready for that
	also []string // further statements before each turn
}

// dueExec is the job_exec of what is due, idleExec that of what is pending beside it.
const (
	dueExec  = "check"
	idleExec = "later"
)

// makeStage makes pending rows in the slots of the coming month, and keeps due rows ready.
func (b *bench) makeStage(ctx context.Context, s *server, name string, due, pending int) (*stage, error) {
	p, err := s.install(ctx, name, day, false)
	if err != nil {
		return nil, err
	}
	st := &stage{place: p, slot: time.Now().UTC().Truncate(day), due: due, kept: due}
	if err := p.makeNumbers(ctx, max(due, min(pending, numbers))); err != nil {
		return nil, err
	}
	b.say("  %d pending, %d due", pending, due)
	if err := st.fill(ctx, 0, pending); err != nil {
		return nil, err
	}
	if err := st.keepDue(ctx); err != nil {
		return nil, err
	}
	return st, p.analyze(ctx, "future_job", "bench_due")
}

// keepDue keeps rows ready that are due in the stage's slot.
func (st *stage) keepDue(ctx context.Context) error {
	for _, query := range []string{
		"DROP TABLE IF EXISTS bench_due",
		"CREATE TABLE bench_due LIKE future_job",
		"ALTER TABLE bench_due DROP KEY job_key", // in the order of the primary key it is made sooner
		fmt.Sprintf("INSERT INTO bench_due (entity_name, entity_key, job_exec, due_at) SELECT 'order', n, '%s', '%s' FROM bench_n WHERE n < %d",
			dueExec, st.slot.Format(time.DateTime), st.kept),
	} {
		if _, err := st.exec(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// manyRows are so many that the index on job_key, whose values are random, is better made when they are there.
const manyRows = 100_000

// fill makes pending rows, from one number up to another: two days at a time, so that the pages of those are filled before
// those of the next.
func (st *stage) fill(ctx context.Context, from, to int) (err error) {
	if to-from >= manyRows {
		if st.own != nil && st.flavour == localserver.MySQL {
			if _, err := st.exec(ctx, "ALTER INSTANCE DISABLE INNODB REDO_LOG"); err != nil {
				return err
			}
			defer func() {
				if err == nil {
					_, err = st.exec(ctx, "ALTER INSTANCE ENABLE INNODB REDO_LOG")
				}
			}()
		}
		if _, err := st.exec(ctx, "ALTER TABLE future_job DROP KEY job_key"); err != nil {
			return err
		}
		defer func() {
			if err == nil {
				_, err = st.exec(ctx, "ALTER TABLE future_job ADD UNIQUE KEY job_key (job_key)")
			}
		}()
	}
	const days = 28
	for ; from < to; from += days * numbers {
		n := min(days*numbers, to-from)
		if err := inParallel(ctx, 2, days, func(ctx context.Context, d int) error {
			// Every 28th from the d-th on.
			_, err := st.exec(ctx, `INSERT INTO future_job (entity_name, entity_key, job_exec, due_at)
				SELECT 'order', n * ? + ?, ?, UTC_DATE() + INTERVAL 2 + ? DAY FROM bench_n WHERE n < ?`,
				days, from+d, idleExec, d, (n-d+days-1)/days)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// set makes the due rows due, and takes away what the turn before left.
func (st *stage) set(ctx context.Context) error {
	if today := time.Now().UTC().Truncate(day); !today.Equal(st.slot) { // midnight has passed
		st.slot = today
		if err := st.keepDue(ctx); err != nil {
			return err
		}
	}
	for _, query := range append([]string{
		"DELETE FROM future_job WHERE next_check_at < UTC_DATE() + INTERVAL 2 DAY",
		"TRUNCATE TABLE job_history", "DELETE FROM slot_run",
		fmt.Sprintf("INSERT INTO future_job SELECT * FROM bench_due WHERE entity_key + 0 < %d", st.due),
	}, st.also...) {
		if _, err := st.exec(ctx, query); err != nil {
			return err
		}
	}
	return st.awaitCalm(ctx)
}

// awaitCalm waits until the server has done what earlier statements left it to do, for at most half a minute: until purge
// has nothing before it, or does not get on, since some transaction holds it back.
func (p *place) awaitCalm(ctx context.Context) error {
	before, still := "", 0
	for range 300 {
		var kind, name, status string
		if err := p.app.QueryRowContext(ctx, "SHOW ENGINE INNODB STATUS").Scan(&kind, &name, &status); err != nil {
			return err
		}
		var purged sql.NullInt64
		if err := p.app.QueryRowContext(ctx, "SELECT SUM(COUNT) FROM information_schema.INNODB_METRICS WHERE SUBSYSTEM = 'purge' AND NAME IN ('"+
			strings.Join(purgeCounters, "', '")+"')").Scan(&purged); err != nil {
			return err
		}
		if now := fmt.Sprint(historyLength(status), purged.Int64); now != before {
			before, still = now, 0
		} else if still++; still == 5 {
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// purgeCounters tell of rows that purge has gone through; one large transaction is one entry in the history list.
var purgeCounters = []string{"purge_del_mark_records", "purge_upd_exist_or_extern_records"}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// ended checks that a turn did what it should have.
func (st *stage) ended(ctx context.Context, ends, moves int) error {
	var gone, moved int
	if err := st.app.QueryRowContext(ctx, "SELECT (SELECT COUNT(*) FROM job_history), (SELECT COUNT(*) FROM future_job WHERE next_check_at = ?)",
		st.slot.Add(day).Format(time.DateTime)).Scan(&gone, &moved); err != nil {
		return err
	}
	if gone != ends || moved != moves {
		return fmt.Errorf("%d ends and %d moves; want %d and %d", gone, moved, ends, moves)
	}
	return nil
}

// contestant does the due rows of a stage in its own way, and checks the result.
type contestant struct {
	name string
	do   func(ctx context.Context, st *stage) error
	ends func(due int) int // how many rows end; the others are moved
}

func all(due int) int { return due }

// aloneAndAmong lets a peer and prescient compete for due jobs, first with nothing else pending, then with a million more.
func aloneAndAmong(due int, compete func(b *bench, ctx context.Context, s *server, due, pending int) error) func(context.Context, *bench, *server) error {
	return func(ctx context.Context, b *bench, s *server) error {
		for _, pending := range []int{0, b.scaled(1_000_000)} {
			if err := compete(b, ctx, s, b.scaled(due), pending); err != nil {
				return err
			}
		}
		return nil
	}
}

// wants says whether a contestant is among those that --only asks for.
func (b *bench) wants(name string) bool {
	return len(b.only) == 0 || slices.ContainsFunc(b.only, func(only string) bool { return strings.Contains(name, only) })
}

// compete gives each contestant its turns, alternating.
func (b *bench) compete(ctx context.Context, st *stage, list []contestant) error {
	for round := 1; round <= b.rounds; round++ {
		for _, c := range list {
			if !b.wants(c.name) {
				continue
			}
			if err := st.set(ctx); err != nil {
				return err
			}
			_, err := b.took(c.name, round, []int{st.pid}, func() (int, error) { return st.due, c.do(ctx, st) })
			if err != nil {
				return err
			}
			if err := st.ended(ctx, c.ends(st.due), st.due-c.ends(st.due)); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}

// readCommitted runs a function in a transaction of a worker's connection.
func readCommitted(ctx context.Context, db *sqlx.DB, do func(tx *sqlx.Tx) error) error {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}
