-- How many last checks started later after their slot than so much? Take the column that is the SLA; for another, count lateness_ms of the
-- table.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_lateness AS
SELECT d.day, h.job_exec, COUNT(*) AS runs,
       COUNT(CASE WHEN h.lateness_ms > 10000 THEN 1 END) AS over_10s,
       COUNT(CASE WHEN h.lateness_ms > 60000 THEN 1 END) AS over_1m,
       COUNT(CASE WHEN h.lateness_ms > 300000 THEN 1 END) AS over_5m,
       COUNT(CASE WHEN h.lateness_ms > 900000 THEN 1 END) AS over_15m,
       COUNT(CASE WHEN h.lateness_ms > 3600000 THEN 1 END) AS over_1h,
       COUNT(CASE WHEN h.lateness_ms > 86400000 THEN 1 END) AS over_1d
-- +file views/parts/ends_by_day.sql
WHERE h.started_at IS NOT NULL
GROUP BY d.day, h.job_exec;
