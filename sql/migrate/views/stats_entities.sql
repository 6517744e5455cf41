-- How did checks of each kind of entity end, by hour and by day, and what did they take? unsettled are all ends but done and what an app put an end
-- to. Give a condition on grain and start.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}stats_entities AS
SELECT grain, start, entity_name, job_exec, CAST(SUM(ends) AS SIGNED) AS ends, CAST(SUM(IF(outcome = 'done', ends, 0)) AS SIGNED) AS done,
       CAST(SUM(IF(outcome IN ('done', 'cancelled', 'superseded'), 0, ends)) AS SIGNED) AS unsettled,
       CAST(SUM(IF(outcome IN ('cancelled', 'superseded'), ends, 0)) AS SIGNED) AS by_app,
       CAST(SUM(calls) AS SIGNED) AS calls, CAST(SUM(errors) AS SIGNED) AS errors, CAST(SUM(total_ms) AS SIGNED) AS total_ms,
       ROUND(SUM(run_ms) / NULLIF(SUM(started), 0), 1) AS run_ms_mean
FROM {prefix}stats GROUP BY grain, start, entity_name, job_exec;
