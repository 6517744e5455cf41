-- expires_at: from then on a check is not called any more, and ends as expired; NULL for never. History keeps it. Beside expired
-- come the ends superseded, missed, too_soon, overlapped and quota, and the books have counts of those that a slot run writes.
-- The views that leave out what was cancelled leave out what was superseded. The dialect plain has no procedures.
-- Locks each table for a moment, once the transactions that have used it are over, and the views for another. Copies nothing:
-- the columns and names come last. It can be repeated where the server reads one of the comments, as TiDB and MariaDB do; others
-- have to drop the columns first, where it was broken off. The way back keeps the names of outcomes.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE {prefix}future_job
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ expires_at DATETIME(6) NULL COMMENT 'UTC: not called from then on; NULL for never';
ALTER TABLE {prefix}job_history
  MODIFY outcome ENUM('done', 'cancelled', 'max_checks', 'past_return', 'beyond_horizon', 'failed', 'timed_out', 'crashed', 'expired', 'superseded', 'missed', 'too_soon', 'overlapped', 'quota')
                 CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ expires_at DATETIME(6) NULL;
ALTER TABLE {prefix}slot_run
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ expired BIGINT UNSIGNED NOT NULL DEFAULT 0,
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ missed BIGINT UNSIGNED NOT NULL DEFAULT 0,
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ too_soon BIGINT UNSIGNED NOT NULL DEFAULT 0,
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ overlapped BIGINT UNSIGNED NOT NULL DEFAULT 0,
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ quota BIGINT UNSIGNED NOT NULL DEFAULT 0;

-- The views that leave out cancelled jobs leave out superseded ones, too: an app put an end to both.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_checks AS
SELECT job_exec, check_count, jobs, max_checks,
       ROUND(100 * jobs / SUM(jobs) OVER (PARTITION BY job_exec), 2) AS percent,
       CAST(SUM(jobs) OVER (PARTITION BY job_exec ORDER BY check_count DESC) AS SIGNED) AS at_least
FROM (SELECT job_exec, check_count, COUNT(*) AS jobs, COUNT(CASE WHEN outcome = 'max_checks' THEN 1 END) AS max_checks
      FROM {prefix}job_history WHERE outcome NOT IN ('cancelled', 'superseded') GROUP BY job_exec, check_count) counted;

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
      WHERE h.outcome NOT IN ('cancelled', 'superseded') GROUP BY d.day, h.job_exec, h.check_count) counted;

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
WHERE h.outcome NOT IN ('cancelled', 'superseded')
GROUP BY d.day, h.job_exec;

UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 15);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 14;
ALTER TABLE {prefix}slot_run DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ expired, DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ missed, DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ too_soon, DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ overlapped, DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ quota;
ALTER TABLE {prefix}job_history DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ expires_at;
ALTER TABLE {prefix}future_job DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ expires_at;
