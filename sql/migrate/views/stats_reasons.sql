-- Why did checks end otherwise than as done, by hour and by day? percent is of those of the job_exec. Give a condition on grain and start.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}stats_reasons AS
SELECT grain, start, job_exec, reason, ends, ROUND(100 * ends / SUM(ends) OVER (PARTITION BY grain, start, job_exec), 2) AS percent
FROM {prefix}stats_reason;
