-- What analysts ask of history. A day is the UTC day on which a check ended. Each view reads all of history: where that
-- is large, take its text and add a condition on ended_at, which keeps to the partitions that it needs.
-- They run with the rights of whoever reads them.
-- Locks each view for a moment. Copies nothing.

-- +goose NO TRANSACTION
-- +goose Up

-- How did checks end?
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_outcomes AS
SELECT DATE(ended_at) AS day, job_exec, outcome, COUNT(*) AS jobs
FROM {prefix}job_history
GROUP BY DATE(ended_at), job_exec, outcome;

-- How long did the last check of each job take, and how late did it start against its slot? Percentiles by nearest
-- rank: a value that occurred, at or below which lie so many percent.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_times AS
SELECT day, job_exec, MAX(runs) AS runs,
       MIN(CASE WHEN run_rank * 100 >= runs * 50 THEN run_ms END) AS run_ms_p50,
       MIN(CASE WHEN run_rank * 100 >= runs * 95 THEN run_ms END) AS run_ms_p95,
       MIN(CASE WHEN run_rank * 100 >= runs * 99 THEN run_ms END) AS run_ms_p99,
       MAX(run_ms) AS run_ms_max,
       MIN(CASE WHEN late_rank * 100 >= runs * 50 THEN lateness_ms END) AS lateness_ms_p50,
       MIN(CASE WHEN late_rank * 100 >= runs * 95 THEN lateness_ms END) AS lateness_ms_p95,
       MIN(CASE WHEN late_rank * 100 >= runs * 99 THEN lateness_ms END) AS lateness_ms_p99,
       MAX(lateness_ms) AS lateness_ms_max
FROM (SELECT DATE(ended_at) AS day, job_exec, run_ms, lateness_ms,
             ROW_NUMBER() OVER (PARTITION BY DATE(ended_at), job_exec ORDER BY run_ms) AS run_rank,
             ROW_NUMBER() OVER (PARTITION BY DATE(ended_at), job_exec ORDER BY lateness_ms) AS late_rank,
             COUNT(*) OVER (PARTITION BY DATE(ended_at), job_exec) AS runs
      FROM {prefix}job_history WHERE started_at IS NOT NULL) ranked
GROUP BY day, job_exec;

-- How many later times did job_execs return before the end, and how many jobs did the guard end (max_checks)? percent
-- is of the job_exec's jobs, at_least counts those with as many or more. Cancelled jobs are left out.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_checks AS
SELECT job_exec, check_count, jobs, max_checks,
       ROUND(100 * jobs / SUM(jobs) OVER (PARTITION BY job_exec), 2) AS percent,
       CAST(SUM(jobs) OVER (PARTITION BY job_exec ORDER BY check_count DESC) AS SIGNED) AS at_least
FROM (SELECT job_exec, check_count, COUNT(*) AS jobs, COUNT(CASE WHEN outcome = 'max_checks' THEN 1 END) AS max_checks
      FROM {prefix}job_history WHERE outcome <> 'cancelled' GROUP BY job_exec, check_count) counted;

-- How often had what a check waits for not happened, which its job_exec says by returning a later time? It happened at
-- once (done, no later time), later (done after some), never (max_checks), or it is unknown (all other ends). not_yet
-- counts the answers, several a job. Cancelled jobs are left out.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_not_yet AS
SELECT DATE(ended_at) AS day, job_exec, COUNT(*) AS jobs,
       COUNT(CASE WHEN outcome = 'done' AND check_count = 0 THEN 1 END) AS at_once,
       COUNT(CASE WHEN outcome = 'done' AND check_count > 0 THEN 1 END) AS later,
       COUNT(CASE WHEN outcome = 'max_checks' THEN 1 END) AS never,
       COUNT(CASE WHEN outcome NOT IN ('done', 'max_checks') THEN 1 END) AS unknown_end,
       CAST(SUM(check_count + (outcome = 'max_checks')) AS SIGNED) AS not_yet,
       ROUND(100 * COUNT(CASE WHEN check_count > 0 OR outcome = 'max_checks' THEN 1 END) / COUNT(*), 2) AS percent_not_at_once
FROM {prefix}job_history
WHERE outcome <> 'cancelled'
GROUP BY DATE(ended_at), job_exec;

-- How many last checks started later after their slot than so much? Take the column that is the SLA; for another, count
-- lateness_ms of the table.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_lateness AS
SELECT DATE(ended_at) AS day, job_exec, COUNT(*) AS runs,
       COUNT(CASE WHEN lateness_ms > 10000 THEN 1 END) AS over_10s,
       COUNT(CASE WHEN lateness_ms > 60000 THEN 1 END) AS over_1m,
       COUNT(CASE WHEN lateness_ms > 300000 THEN 1 END) AS over_5m,
       COUNT(CASE WHEN lateness_ms > 900000 THEN 1 END) AS over_15m,
       COUNT(CASE WHEN lateness_ms > 3600000 THEN 1 END) AS over_1h,
       COUNT(CASE WHEN lateness_ms > 86400000 THEN 1 END) AS over_1d
FROM {prefix}job_history
WHERE started_at IS NOT NULL
GROUP BY DATE(ended_at), job_exec;

-- +goose Down
DROP VIEW IF EXISTS {prefix}history_outcomes, {prefix}history_times, {prefix}history_checks, {prefix}history_not_yet,
  {prefix}history_lateness;
