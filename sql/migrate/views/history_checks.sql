-- How many later times did job_execs return before the end, and how many jobs did the guard end (max_checks)? percent is of the job_exec's
-- jobs, at_least counts those with as many or more. What an app put an end to, cancelled or superseded, is left out. It reads all of history.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_checks AS
SELECT job_exec, check_count, jobs, max_checks,
       ROUND(100 * jobs / SUM(jobs) OVER (PARTITION BY job_exec), 2) AS percent,
       CAST(SUM(jobs) OVER (PARTITION BY job_exec ORDER BY check_count DESC) AS SIGNED) AS at_least
FROM (SELECT job_exec, check_count, COUNT(*) AS jobs, COUNT(CASE WHEN outcome = 'max_checks' THEN 1 END) AS max_checks
      FROM {prefix}job_history WHERE outcome NOT IN ('cancelled', 'superseded') GROUP BY job_exec, check_count) counted;
