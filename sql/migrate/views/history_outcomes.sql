-- How did checks end, by the day on which they ended?
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_outcomes AS
SELECT d.day, h.job_exec, h.outcome, COUNT(*) AS jobs
-- +file views/parts/ends_by_day.sql
GROUP BY d.day, h.job_exec, h.outcome;
