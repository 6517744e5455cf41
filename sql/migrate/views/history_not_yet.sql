-- How often had what a check waits for not happened, which its job_exec says by returning a later time? It happened at once (done, no later
-- time), later (done after some), never (max_checks), or it is unknown (all other ends). not_yet counts the answers, several a job. What an
-- app put an end to, cancelled or superseded, is left out.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_not_yet AS
SELECT d.day, h.job_exec, COUNT(*) AS jobs,
       COUNT(CASE WHEN h.outcome = 'done' AND h.check_count = 0 THEN 1 END) AS at_once,
       COUNT(CASE WHEN h.outcome = 'done' AND h.check_count > 0 THEN 1 END) AS later,
       COUNT(CASE WHEN h.outcome = 'max_checks' THEN 1 END) AS never,
       COUNT(CASE WHEN h.outcome NOT IN ('done', 'max_checks') THEN 1 END) AS unknown_end,
       CAST(SUM(h.check_count + (h.outcome = 'max_checks')) AS SIGNED) AS not_yet,
       ROUND(100 * COUNT(CASE WHEN h.check_count > 0 OR h.outcome = 'max_checks' THEN 1 END) / COUNT(*), 2) AS percent_not_at_once
-- +file views/parts/ends_by_day.sql
WHERE h.outcome NOT IN ('cancelled', 'superseded')
GROUP BY d.day, h.job_exec;
