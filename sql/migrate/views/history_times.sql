-- How long did the last check of each job take, and how late did it start against its slot? Percentiles by nearest rank: a value that
-- occurred, at or below which lie so many percent. They are taken from how many had each value, in place of sorting every row twice.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_times AS
SELECT day, job_exec, CAST(MAX(CASE WHEN kind = 'ran' THEN among END) AS SIGNED) AS runs,
       MIN(CASE WHEN kind = 'ran' AND up_to * 100 >= among * 50 THEN ms END) AS run_ms_p50,
       MIN(CASE WHEN kind = 'ran' AND up_to * 100 >= among * 95 THEN ms END) AS run_ms_p95,
       MIN(CASE WHEN kind = 'ran' AND up_to * 100 >= among * 99 THEN ms END) AS run_ms_p99,
       MAX(CASE WHEN kind = 'ran' THEN ms END) AS run_ms_max,
       MIN(CASE WHEN kind = 'late' AND up_to * 100 >= among * 50 THEN ms END) AS lateness_ms_p50,
       MIN(CASE WHEN kind = 'late' AND up_to * 100 >= among * 95 THEN ms END) AS lateness_ms_p95,
       MIN(CASE WHEN kind = 'late' AND up_to * 100 >= among * 99 THEN ms END) AS lateness_ms_p99,
       MAX(CASE WHEN kind = 'late' THEN ms END) AS lateness_ms_max
FROM (SELECT day, job_exec, kind, ms,
             SUM(jobs) OVER (PARTITION BY day, job_exec, kind ORDER BY ms) AS up_to,
             SUM(jobs) OVER (PARTITION BY day, job_exec, kind) AS among
      FROM (SELECT d.day, h.job_exec, 'ran' AS kind, h.run_ms AS ms, COUNT(*) AS jobs
            -- +file views/parts/ends_by_day.sql
            WHERE h.started_at IS NOT NULL GROUP BY d.day, h.job_exec, h.run_ms
            UNION ALL
            SELECT d.day, h.job_exec, 'late', h.lateness_ms, COUNT(*)
            -- +file views/parts/ends_by_day.sql
            WHERE h.started_at IS NOT NULL GROUP BY d.day, h.job_exec, h.lateness_ms) counted) ranked
GROUP BY day, job_exec;
