-- history_not_yet by kind of entity, by hour and by day, for years. Give a condition on grain and start.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}stats_not_yet AS
SELECT grain, start, entity_name, job_exec, CAST(SUM(ends) AS SIGNED) AS jobs,
       CAST(SUM(IF(outcome = 'done', ends - waited, 0)) AS SIGNED) AS at_once,
       CAST(SUM(IF(outcome = 'done', waited, 0)) AS SIGNED) AS later,
       CAST(SUM(IF(outcome = 'max_checks', ends, 0)) AS SIGNED) AS never,
       CAST(SUM(IF(outcome IN ('done', 'max_checks'), 0, ends)) AS SIGNED) AS unknown_end,
       CAST(SUM(not_yet) AS SIGNED) AS not_yet,
       ROUND(100 * SUM(waited) / SUM(ends), 2) AS percent_not_at_once
FROM {prefix}stats WHERE outcome NOT IN ('cancelled', 'superseded') GROUP BY grain, start, entity_name, job_exec;
