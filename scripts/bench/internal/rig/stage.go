package rig

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient/localserver"
)

// Day is the resolution where due rows are run: the slot that is now stays the same until midnight, UTC.
const Day = 24 * time.Hour

// Stage is an installation with rows pending, to which the due ones are added before each turn.
type Stage struct {
	*Place
	Slot time.Time
	Due  int      // how many are due in a turn
	kept int      // how many are kept ready for that
	Also []string // further statements before each turn
}

// dueExec is the job_exec of what is due, idleExec that of what is pending beside it.
const (
	DueExec  = "check"
	IdleExec = "later"
)

// MakeStage makes pending rows in the slots of the coming month, and keeps due rows ready.
func (b *Bench) MakeStage(ctx context.Context, s *Server, name string, due, pending int) (*Stage, error) {
	p, err := s.Install(ctx, name, Day, false)
	if err != nil {
		return nil, err
	}
	st := &Stage{Place: p, Slot: time.Now().UTC().Truncate(Day), Due: due, kept: due}
	if err := p.MakeNumbers(ctx, max(due, min(pending, Numbers))); err != nil {
		return nil, err
	}
	b.Say("  %d pending, %d due", pending, due)
	if err := st.Fill(ctx, 0, pending); err != nil {
		return nil, err
	}
	if err := st.keepDue(ctx); err != nil {
		return nil, err
	}
	return st, p.Analyze(ctx, "future_job", "bench_due")
}

// keepDue keeps rows ready that are due in the stage's slot.
func (st *Stage) keepDue(ctx context.Context) error {
	for _, query := range []string{
		"DROP TABLE IF EXISTS bench_due",
		"CREATE TABLE bench_due LIKE future_job",
		"ALTER TABLE bench_due DROP KEY job_key", // in the order of the primary key it is made sooner
		fmt.Sprintf("INSERT INTO bench_due (entity_name, entity_key, job_exec, due_at) SELECT 'order', n, '%s', '%s' FROM bench_n WHERE n < %d",
			DueExec, st.Slot.Format(time.DateTime), st.kept),
	} {
		if _, err := st.Exec(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// manyRows are so many that the index on job_key, whose values are random, is better made when they are there.
const manyRows = 100_000

// Fill makes pending rows, from one number up to another: two days at a time, so that the pages of those are filled before
// those of the next.
func (st *Stage) Fill(ctx context.Context, from, to int) (err error) {
	if to-from >= manyRows {
		if st.own != nil && st.Flavour == localserver.MySQL {
			if _, err := st.Exec(ctx, "ALTER INSTANCE DISABLE INNODB REDO_LOG"); err != nil {
				return err
			}
			defer func() {
				if err == nil {
					_, err = st.Exec(ctx, "ALTER INSTANCE ENABLE INNODB REDO_LOG")
				}
			}()
		}
		if _, err := st.Exec(ctx, "ALTER TABLE future_job DROP KEY job_key"); err != nil {
			return err
		}
		defer func() {
			if err == nil {
				_, err = st.Exec(ctx, "ALTER TABLE future_job ADD UNIQUE KEY job_key (job_key)")
			}
		}()
	}
	const days = 28
	for ; from < to; from += days * Numbers {
		n := min(days*Numbers, to-from)
		if err := InParallel(ctx, 2, days, func(ctx context.Context, d int) error {
			// Every 28th from the d-th on.
			_, err := st.Exec(ctx, `INSERT INTO future_job (entity_name, entity_key, job_exec, due_at)
				SELECT 'order', n * ? + ?, ?, UTC_DATE() + INTERVAL 2 + ? DAY FROM bench_n WHERE n < ?`,
				days, from+d, IdleExec, d, (n-d+days-1)/days)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Set makes the due rows due, and takes away what the turn before left.
func (st *Stage) Set(ctx context.Context, also ...string) error {
	if today := time.Now().UTC().Truncate(Day); !today.Equal(st.Slot) { // midnight has passed
		st.Slot = today
		if err := st.keepDue(ctx); err != nil {
			return err
		}
	}
	for _, query := range slices.Concat([]string{
		"DELETE FROM future_job WHERE next_check_at < UTC_DATE() + INTERVAL 2 DAY",
		"TRUNCATE TABLE job_history", "DELETE FROM slot_run",
		fmt.Sprintf("INSERT INTO future_job SELECT * FROM bench_due WHERE entity_key + 0 < %d", st.Due),
	}, st.Also, also) {
		if _, err := st.Exec(ctx, query); err != nil {
			return err
		}
	}
	return st.AwaitCalm(ctx)
}

// AwaitCalm waits until the server has done what earlier statements left it to do, for at most half a minute: until purge
// has nothing before it, or does not get on, since some transaction holds it back.
func (p *Place) AwaitCalm(ctx context.Context) error {
	before, still := "", 0
	for range 300 {
		var kind, name, status string
		if err := p.App.QueryRowContext(ctx, "SHOW ENGINE INNODB STATUS").Scan(&kind, &name, &status); err != nil {
			return err
		}
		var purged sql.NullInt64
		if err := p.App.QueryRowContext(ctx, "SELECT SUM(COUNT) FROM information_schema.INNODB_METRICS WHERE SUBSYSTEM = 'purge' AND NAME IN ('"+
			strings.Join(purgeCounters, "', '")+"')").Scan(&purged); err != nil {
			return err
		}
		if now := fmt.Sprint(historyLength(status), purged.Int64); now != before {
			before, still = now, 0
		} else if still++; still == 5 {
			return nil
		}
		if err := Pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// Ended checks that a turn did what it should have.
func (st *Stage) Ended(ctx context.Context, ends, moves int) error {
	var gone, moved int
	if err := st.App.QueryRowContext(ctx, "SELECT (SELECT COUNT(*) FROM job_history), (SELECT COUNT(*) FROM future_job WHERE next_check_at = ?)",
		st.Slot.Add(Day).Format(time.DateTime)).Scan(&gone, &moved); err != nil {
		return err
	}
	if gone != ends || moved != moves {
		return fmt.Errorf("%d ends and %d moves; want %d and %d", gone, moved, ends, moves)
	}
	return nil
}
