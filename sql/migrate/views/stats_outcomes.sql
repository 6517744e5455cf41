-- How did checks end, by hour and by day, for years? Give a condition on grain and start.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}stats_outcomes AS
SELECT grain, start, job_exec, outcome, CAST(SUM(ends) AS SIGNED) AS ends, CAST(SUM(calls) AS SIGNED) AS calls, CAST(SUM(errors) AS SIGNED) AS errors,
       CAST(SUM(total_ms) AS SIGNED) AS total_ms
FROM {prefix}stats GROUP BY grain, start, job_exec, outcome;
