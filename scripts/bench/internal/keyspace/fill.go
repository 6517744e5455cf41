package keyspace

import (
	"context"
	"fmt"
	"strings"

	"prescient/scripts/bench/internal/rig"
)

// within says in SQL which entities lie on a shard: those whose hash is within its range, such as 40-80.
func within(shard string) string {
	const hash = "SHA2(CONCAT('order', UNHEX('00'), {n}), 256)"
	from, to, _ := strings.Cut(shard, "-")
	has := hash + " >= '" + from + "'"
	if to != "" {
		has += " AND " + hash + " < '" + to + "'"
	}
	return has
}

// of is which entities lie here, where their number is an expression.
func (p part) of(number string) string { return strings.ReplaceAll(p.has, "{n}", number) }

// days is among how many slots what is pending is divided.
const days = 28

// fill makes rows pending, from one number up to another, each where it lies, and keeps the numbers ready of those that will be due. The index of keys is
// better made when the rows are there.
func (s *side) fill(ctx context.Context, from, to, due int) error {
	return rig.InParallel(ctx, 2, len(s.parts), func(ctx context.Context, i int) error {
		p := s.parts[i]
		if err := p.MakeNumbers(ctx, max(due, to/days+1)); err != nil {
			return err
		}
		queries := []string{"ALTER INSTANCE DISABLE INNODB REDO_LOG", "ALTER TABLE future_job DROP KEY job_key"}
		for day := range days {
			number := fmt.Sprintf("(n * %d + %d)", days, day)
			queries = append(queries, fmt.Sprintf(`INSERT INTO future_job (entity_name, entity_key, job_exec, due_at)
				SELECT 'order', %s, '%s', UTC_DATE() + INTERVAL %d DAY FROM bench_n WHERE %[1]s >= %[4]d AND %[1]s < %[5]d AND %[6]s`,
				number, rig.IdleExec, 2+day, from, to, p.of(number)))
		}
		queries = append(queries, "ALTER TABLE future_job ADD UNIQUE KEY job_key (job_key)", "ALTER INSTANCE ENABLE INNODB REDO_LOG",
			"DROP TABLE IF EXISTS bench_due", "CREATE TABLE bench_due (n INT NOT NULL PRIMARY KEY)",
			fmt.Sprintf("INSERT INTO bench_due SELECT n FROM bench_n WHERE n < %d AND %s", due, p.of("n")))
		for _, query := range queries {
			if _, err := p.Exec(ctx, query); err != nil {
				return err
			}
		}
		return p.Analyze(ctx, "future_job", "bench_due")
	})
}

// set makes so many rows due in the slot that is now, each where it lies, and takes away what the turn before left.
func (s *side) set(ctx context.Context, due int) error {
	return rig.InParallel(ctx, 2, len(s.parts), func(ctx context.Context, i int) error {
		p := s.parts[i]
		for _, query := range []string{
			"DELETE FROM future_job WHERE next_check_at < UTC_DATE() + INTERVAL 2 DAY", "TRUNCATE TABLE job_history", "DELETE FROM slot_run", "DELETE FROM exec_run",
			fmt.Sprintf("INSERT INTO future_job (entity_name, entity_key, job_exec, due_at) SELECT 'order', n, '%s', UTC_DATE() FROM bench_due WHERE n < %d", rig.DueExec, due),
		} {
			if _, err := p.Exec(ctx, query); err != nil {
				return err
			}
		}
		return p.AwaitCalm(ctx)
	})
}

// ended checks that as many rows have ended, on all parts together.
func (s *side) ended(ctx context.Context, want int) error {
	all := 0
	for _, p := range s.parts {
		var n int
		if err := p.App.QueryRowContext(ctx, "SELECT COUNT(*) FROM job_history").Scan(&n); err != nil {
			return err
		}
		all += n
	}
	if all != want {
		return fmt.Errorf("%d rows have ended; want %d", all, want)
	}
	return nil
}

// bytesPending is how large what is pending is, with its indexes, on all parts together.
func (s *side) bytesPending(ctx context.Context) (all float64, err error) {
	for _, p := range s.parts {
		var n float64
		if err := p.App.QueryRowContext(ctx, "SELECT SUM(file_size) FROM information_schema.innodb_tablespaces WHERE name LIKE CONCAT(DATABASE(), '/future_job')").Scan(&n); err != nil {
			return 0, err
		}
		all += n
	}
	return all, nil
}
