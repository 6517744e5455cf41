-- The analysts' views again, such that a condition on day reads the rows of those days and no others. Before, a day was
-- worked out of each row, so that every question read all of history. Now the days come first, and each is a range of the
-- primary key: the server carries a condition on a view's day down to the days. Columns and values are what they were.
-- The days, d, are those from the first end to the last, 27 years of them at most; they stand in each view, not in one of
-- their own, which analysts of before would have no right to. New is history_checks_daily: history_checks by day.
-- Percentiles are taken from how many had each value, in place of sorting every row twice.
-- They run with the rights of whoever reads them.
-- Locks each view for a moment. Copies nothing.

-- +goose NO TRANSACTION
-- +goose Up

-- How did checks end?
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_outcomes AS
SELECT d.day, h.job_exec, h.outcome, COUNT(*) AS jobs
FROM (SELECT DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY AS day
    FROM (SELECT MIN(ended_at) AS first_at, MAX(ended_at) AS last_at FROM {prefix}job_history) ends,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d0,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d1,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d2,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d3
    WHERE DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY <= ends.last_at) d
  STRAIGHT_JOIN {prefix}job_history h ON h.ended_at >= TIMESTAMP(d.day) AND h.ended_at < TIMESTAMP(d.day) + INTERVAL 1 DAY
GROUP BY d.day, h.job_exec, h.outcome;

-- How long did the last check of each job take, and how late did it start against its slot? Percentiles by nearest
-- rank: a value that occurred, at or below which lie so many percent.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_times AS
SELECT day, job_exec, CAST(MAX(CASE WHEN kind = 'ran' THEN among END) AS SIGNED) AS runs,
       MIN(CASE WHEN kind = 'ran' AND up_to * 100 >= among * 50 THEN ms END) AS run_ms_p50,
       MIN(CASE WHEN kind = 'ran' AND up_to * 100 >= among * 95 THEN ms END) AS run_ms_p95,
       MIN(CASE WHEN kind = 'ran' AND up_to * 100 >= among * 99 THEN ms END) AS run_ms_p99,
       MAX(CASE WHEN kind = 'ran' THEN ms END) AS run_ms_max,
       MIN(CASE WHEN kind = 'late' AND up_to * 100 >= among * 50 THEN ms END) AS lateness_ms_p50,
       MIN(CASE WHEN kind = 'late' AND up_to * 100 >= among * 95 THEN ms END) AS lateness_ms_p95,
       MIN(CASE WHEN kind = 'late' AND up_to * 100 >= among * 99 THEN ms END) AS lateness_ms_p99,
       MAX(CASE WHEN kind = 'late' THEN ms END) AS lateness_ms_max
FROM (SELECT day, job_exec, kind, ms,
             SUM(jobs) OVER (PARTITION BY day, job_exec, kind ORDER BY ms) AS up_to,
             SUM(jobs) OVER (PARTITION BY day, job_exec, kind) AS among
      FROM (SELECT d.day, h.job_exec, 'ran' AS kind, h.run_ms AS ms, COUNT(*) AS jobs
            FROM (SELECT DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY AS day
    FROM (SELECT MIN(ended_at) AS first_at, MAX(ended_at) AS last_at FROM {prefix}job_history) ends,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d0,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d1,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d2,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d3
    WHERE DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY <= ends.last_at) d
  STRAIGHT_JOIN {prefix}job_history h ON h.ended_at >= TIMESTAMP(d.day) AND h.ended_at < TIMESTAMP(d.day) + INTERVAL 1 DAY
            WHERE h.started_at IS NOT NULL GROUP BY d.day, h.job_exec, h.run_ms
            UNION ALL
            SELECT d.day, h.job_exec, 'late', h.lateness_ms, COUNT(*)
            FROM (SELECT DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY AS day
    FROM (SELECT MIN(ended_at) AS first_at, MAX(ended_at) AS last_at FROM {prefix}job_history) ends,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d0,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d1,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d2,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d3
    WHERE DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY <= ends.last_at) d
  STRAIGHT_JOIN {prefix}job_history h ON h.ended_at >= TIMESTAMP(d.day) AND h.ended_at < TIMESTAMP(d.day) + INTERVAL 1 DAY
            WHERE h.started_at IS NOT NULL GROUP BY d.day, h.job_exec, h.lateness_ms) counted) ranked
GROUP BY day, job_exec;

-- history_checks by the day on which the jobs ended.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_checks_daily AS
SELECT day, job_exec, check_count, jobs, max_checks,
       ROUND(100 * jobs / SUM(jobs) OVER (PARTITION BY day, job_exec), 2) AS percent,
       CAST(SUM(jobs) OVER (PARTITION BY day, job_exec ORDER BY check_count DESC) AS SIGNED) AS at_least
FROM (SELECT d.day, h.job_exec, h.check_count, COUNT(*) AS jobs, COUNT(CASE WHEN h.outcome = 'max_checks' THEN 1 END) AS max_checks
      FROM (SELECT DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY AS day
    FROM (SELECT MIN(ended_at) AS first_at, MAX(ended_at) AS last_at FROM {prefix}job_history) ends,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d0,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d1,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d2,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d3
    WHERE DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY <= ends.last_at) d
  STRAIGHT_JOIN {prefix}job_history h ON h.ended_at >= TIMESTAMP(d.day) AND h.ended_at < TIMESTAMP(d.day) + INTERVAL 1 DAY
      WHERE h.outcome <> 'cancelled' GROUP BY d.day, h.job_exec, h.check_count) counted;

-- How often had what a check waits for not happened, which its job_exec says by returning a later time? It happened at
-- once (done, no later time), later (done after some), never (max_checks), or it is unknown (all other ends). not_yet
-- counts the answers, several a job. Cancelled jobs are left out.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_not_yet AS
SELECT d.day, h.job_exec, COUNT(*) AS jobs,
       COUNT(CASE WHEN h.outcome = 'done' AND h.check_count = 0 THEN 1 END) AS at_once,
       COUNT(CASE WHEN h.outcome = 'done' AND h.check_count > 0 THEN 1 END) AS later,
       COUNT(CASE WHEN h.outcome = 'max_checks' THEN 1 END) AS never,
       COUNT(CASE WHEN h.outcome NOT IN ('done', 'max_checks') THEN 1 END) AS unknown_end,
       CAST(SUM(h.check_count + (h.outcome = 'max_checks')) AS SIGNED) AS not_yet,
       ROUND(100 * COUNT(CASE WHEN h.check_count > 0 OR h.outcome = 'max_checks' THEN 1 END) / COUNT(*), 2) AS percent_not_at_once
FROM (SELECT DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY AS day
    FROM (SELECT MIN(ended_at) AS first_at, MAX(ended_at) AS last_at FROM {prefix}job_history) ends,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d0,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d1,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d2,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d3
    WHERE DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY <= ends.last_at) d
  STRAIGHT_JOIN {prefix}job_history h ON h.ended_at >= TIMESTAMP(d.day) AND h.ended_at < TIMESTAMP(d.day) + INTERVAL 1 DAY
WHERE h.outcome <> 'cancelled'
GROUP BY d.day, h.job_exec;

-- How many last checks started later after their slot than so much? Take the column that is the SLA; for another, count
-- lateness_ms of the table.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_lateness AS
SELECT d.day, h.job_exec, COUNT(*) AS runs,
       COUNT(CASE WHEN h.lateness_ms > 10000 THEN 1 END) AS over_10s,
       COUNT(CASE WHEN h.lateness_ms > 60000 THEN 1 END) AS over_1m,
       COUNT(CASE WHEN h.lateness_ms > 300000 THEN 1 END) AS over_5m,
       COUNT(CASE WHEN h.lateness_ms > 900000 THEN 1 END) AS over_15m,
       COUNT(CASE WHEN h.lateness_ms > 3600000 THEN 1 END) AS over_1h,
       COUNT(CASE WHEN h.lateness_ms > 86400000 THEN 1 END) AS over_1d
FROM (SELECT DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY AS day
    FROM (SELECT MIN(ended_at) AS first_at, MAX(ended_at) AS last_at FROM {prefix}job_history) ends,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d0,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d1,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d2,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d3
    WHERE DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY <= ends.last_at) d
  STRAIGHT_JOIN {prefix}job_history h ON h.ended_at >= TIMESTAMP(d.day) AND h.ended_at < TIMESTAMP(d.day) + INTERVAL 1 DAY
WHERE h.started_at IS NOT NULL
GROUP BY d.day, h.job_exec;

UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 11);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 10;
DROP VIEW IF EXISTS {prefix}history_outcomes, {prefix}history_times, {prefix}history_checks_daily, {prefix}history_not_yet,
  {prefix}history_lateness;
