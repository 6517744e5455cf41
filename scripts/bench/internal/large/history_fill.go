package large

import (
	"context"
	"fmt"
	"sync"
	"time"

	"prescient/prescient/localserver"
	"prescient/prescient/prune"

	"prescient/scripts/bench/internal/rig"
)

const (
	// historyDays is about how far back the ends of section history go.
	historyDays = 90
)

// jobKeyOf is the default of job_key in future_job, over other columns.
const jobKeyOf = `CONCAT(
  SUBSTRING(UNHEX(SHA2(CONCAT(CAST(entity_name AS BINARY), UNHEX('00'), CAST(entity_key AS BINARY)), 256)), 1, 12),
  SUBSTRING(UNHEX(SHA2(CONCAT(CAST(job_exec AS BINARY), UNHEX('00')), 256)), 1, 4))`

// weekRows makes the ends of a week from numbers: some thousands in the half minute after each slot; four kinds of
// entity, of which account/main alone has one end in 500; job_execs and outcomes from the usual to the very rare.
// {per}: ends a slot, {entities}, {start}; 1: the number of the first, 2: how many
const weekRows = `INSERT INTO bench_week
SELECT i, entity_name, entity_key, job_exec, ` + jobKeyOf + `, slot, h, outcome, slot + INTERVAL (200000 + k * 5000) MICROSECOND, 200 + k * 5
FROM (SELECT i, k, h, slot,
    CASE WHEN i MOD 500 = 3 OR e MOD 1000 = 999 THEN 'account' WHEN e MOD 10 < 7 THEN 'order' WHEN e MOD 10 < 9 THEN 'invoice' ELSE 'parcel' END AS entity_name,
    IF(i MOD 500 = 3, 'main', CAST(e AS CHAR)) AS entity_key,
    CASE WHEN i MOD 1000003 = 5 THEN 'refund-stuck' WHEN h MOD 100 < 55 THEN 'order-unshipped' WHEN h MOD 100 < 80 THEN 'invoice-unpaid'
         WHEN h MOD 100 < 98 THEN 'parcel-lost' ELSE 'account-idle' END AS job_exec,
    CASE WHEN h2 MOD 10000 < 9300 THEN 'done' WHEN h2 MOD 10000 < 9700 THEN 'cancelled'
         WHEN h2 MOD 10000 < 9900 THEN 'max_checks' WHEN h2 MOD 10000 < 9990 THEN 'failed' ELSE 'timed_out' END AS outcome
  FROM (SELECT i, i MOD {per} AS k, CRC32(i) AS h, CRC32(i + 1000000007) AS h2, (i * 7919 + i DIV 1000) MOD {entities} AS e,
      TIMESTAMP'{start}' + INTERVAL (i DIV {per}) * 900 SECOND AS slot
    FROM (SELECT CAST(n + ? AS SIGNED) AS i FROM bench_n WHERE n < ?) numbered) spread) named`

const weekTable = `CREATE TABLE bench_week (i INT NOT NULL PRIMARY KEY, entity_name VARCHAR(64) NOT NULL, entity_key VARCHAR(64) NOT NULL,
  job_exec VARCHAR(64) NOT NULL, job_key BINARY(16) NOT NULL, slot DATETIME NOT NULL, h BIGINT NOT NULL, outcome VARCHAR(20) NOT NULL,
  ended_at DATETIME(6) NOT NULL, lateness_ms INT NOT NULL) DEFAULT CHARSET = ascii COLLATE = ascii_bin`

// historyRows copies a part of the week into an earlier one. Of the earliest of all, 20 ends are crashed.
// 1 to 3: weeks, 4: the number of the first, 5: before which
const historyRows = `INSERT INTO job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
  slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker)
SELECT entity_name, entity_key, job_exec, '', at, job_key, at, at,
  h MOD 7 DIV 4, 0, 0, NULL, h MOD 900, IF(h MOD 4 = 0, CONCAT('{"number": ', i, '}'), NULL), i + 100000000 * week, at - INTERVAL 3 HOUR,
  at, IF(week = 12 AND i < 20000 AND i MOD 1000 = 1, 'crashed', outcome), IF(outcome = 'done', NULL, 'why it ended like this'),
  IF(outcome = 'cancelled', NULL, ended - INTERVAL 100 MICROSECOND), ended, h MOD 900, IF(outcome = 'cancelled', NULL, lateness_ms), 'bench'
FROM (SELECT bench_week.*, slot - INTERVAL ? WEEK AS at, ended_at - INTERVAL ? WEEK AS ended, ? AS week FROM bench_week WHERE i >= ? AND i < ?) copied`

// historyWeeks is how many weeks the ends of section history go back.
const historyWeeks = 13

// fillHistory writes rows ends into the weekly partitions that KeepPartitions makes for them.
func fillHistory(ctx context.Context, b *rig.Bench, p *rig.Place, rows int) error {
	if err := p.MakeNumbers(ctx, min(rig.Numbers, rows)); err != nil {
		return err
	}
	if _, err := p.Exec(ctx, weekTable); err != nil {
		return err
	}
	start := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -7)
	week := rows / historyWeeks
	per := max(week/(7*96), 1)
	query := replace(weekRows, "{per}", fmt.Sprint(per), "{entities}", fmt.Sprint(week/3+1), "{start}", start.Format(time.DateTime))
	for from := 0; from < week; from += rig.Numbers {
		if _, err := p.Exec(ctx, query, from, min(rig.Numbers, week-from)); err != nil {
			return err
		}
	}
	if _, err := p.Exec(ctx, historyRows, 12, 12, 12, 0, 1); err != nil {
		return err
	}
	// The partitions reach back to the first end, which is there.
	if _, err := prune.KeepPartitions(ctx, p.DB, prune.Options{}); err != nil {
		return err
	}
	// While it is filled it need not be durable.
	if _, err := p.Exec(ctx, "SET GLOBAL innodb_flush_log_at_trx_commit = 0"); err != nil {
		return err
	}
	type part struct{ week, from, to int }
	const step = 250_000
	parts := make(chan part, historyWeeks*(week/step+2))
	for back := historyWeeks - 1; back >= 0; back-- {
		for from := 0; from < week; from += step {
			parts <- part{back, max(from, map[bool]int{true: 1}[back == 12]), min(from+step, week)}
		}
	}
	close(parts)
	// Two connections.
	started := time.Now()
	var failed error
	var done int
	var mu sync.Mutex
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			conn, err := p.App.Conn(ctx)
			if err == nil {
				defer conn.Close()
				_, err = conn.ExecContext(ctx, "SET SESSION sql_log_bin = 0")
			}
			for part := range parts {
				if err != nil || ctx.Err() != nil {
					break
				}
				_, err = conn.ExecContext(ctx, historyRows, part.week, part.week, part.week, part.from, part.to)
				mu.Lock()
				done += part.to - part.from
				if len(parts)%4 == 0 {
					b.Say("  %.1f million ends after %v", float64(done)/1e6, time.Since(started).Round(time.Second))
				}
				mu.Unlock()
			}
			mu.Lock()
			defer mu.Unlock()
			if failed == nil {
				failed = err
			}
		})
	}
	both.Wait()
	if failed != nil {
		return failed
	}
	if _, err := p.Exec(ctx, "SET GLOBAL innodb_flush_log_at_trx_commit = 1"); err != nil {
		return err
	}
	if _, err := p.Exec(ctx, "DROP TABLE bench_week"); err != nil {
		return err
	}
	return p.Analyze(ctx, "job_history")
}

// pendingSlots is how many slots there are in the month in which checks are due.
const pendingSlots = 30 * 24 * 4

// fillPending writes checks that are due over the coming month, by plain SQL: slot by slot, which is the order of the primary key.
func fillPending(ctx context.Context, b *rig.Bench, p *rig.Place, rows int) error {
	if err := p.MakeNumbers(ctx, min(rig.Numbers, rows)); err != nil {
		return err
	}
	began := time.Now()
	for from := 0; from < rows; from += rig.Numbers {
		_, err := p.Exec(ctx, `INSERT INTO future_job (entity_name, entity_key, job_exec, due_at)
			SELECT IF(n MOD 10 < 7, 'order', 'invoice'), n + ?, CASE WHEN n MOD 100003 = 5 THEN 'refund-stuck' WHEN n MOD 3 = 0 THEN 'invoice-unpaid' ELSE 'order-unshipped' END,
			UTC_TIMESTAMP() + INTERVAL 1 HOUR + INTERVAL ((n + ?) DIV ?) * 900 SECOND FROM bench_n WHERE n < ?`, from, from, max(1, rows/pendingSlots), min(rig.Numbers, rows-from))
		if err != nil {
			return err
		}
		b.Say("  %.1f million pending after %v", float64(min(from+rig.Numbers, rows))/1e6, time.Since(began).Round(time.Second))
	}
	return p.Analyze(ctx, "future_job")
}

// limitedDSN is for a pool on which the server ends a SELECT that takes too long.
func limitedDSN(p *rig.Place, limit time.Duration) string {
	config := p.Config.Clone()
	config.DBName = p.Name
	if p.Flavour == localserver.MariaDB {
		config.Params = map[string]string{"max_statement_time": fmt.Sprint(limit.Seconds())}
	} else {
		config.Params = map[string]string{"max_execution_time": fmt.Sprint(limit.Milliseconds())}
	}
	return config.FormatDSN()
}
