-- history_checks by the day on which the jobs ended.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_checks_daily AS
SELECT day, job_exec, check_count, jobs, max_checks,
       ROUND(100 * jobs / SUM(jobs) OVER (PARTITION BY day, job_exec), 2) AS percent,
       CAST(SUM(jobs) OVER (PARTITION BY day, job_exec ORDER BY check_count DESC) AS SIGNED) AS at_least
FROM (SELECT d.day, h.job_exec, h.check_count, COUNT(*) AS jobs, COUNT(CASE WHEN h.outcome = 'max_checks' THEN 1 END) AS max_checks
      -- +file views/parts/ends_by_day.sql
      WHERE h.outcome NOT IN ('cancelled', 'superseded') GROUP BY d.day, h.job_exec, h.check_count) counted;
