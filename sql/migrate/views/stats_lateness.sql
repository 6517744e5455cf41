-- How late were last calls against their slot, and against due_at, with the wait for the slot in it, by hour and by day? Thresholds are met within
-- 5 %. Give a condition on grain and start.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}stats_lateness AS
SELECT grain, start, job_exec, CAST(SUM(IF(measure = 'lateness', n, 0)) AS SIGNED) AS runs,
       CAST(SUM(IF(measure = 'lateness' AND bucket > 189, n, 0)) AS SIGNED) AS over_10s,
       CAST(SUM(IF(measure = 'lateness' AND bucket > 226, n, 0)) AS SIGNED) AS over_1m,
       CAST(SUM(IF(measure = 'lateness' AND bucket > 259, n, 0)) AS SIGNED) AS over_5m,
       CAST(SUM(IF(measure = 'lateness' AND bucket > 282, n, 0)) AS SIGNED) AS over_15m,
       CAST(SUM(IF(measure = 'lateness' AND bucket > 310, n, 0)) AS SIGNED) AS over_1h,
       CAST(SUM(IF(measure = 'lateness' AND bucket > 375, n, 0)) AS SIGNED) AS over_1d,
       CAST(SUM(IF(measure = 'due_lateness' AND bucket > 189, n, 0)) AS SIGNED) AS due_over_10s,
       CAST(SUM(IF(measure = 'due_lateness' AND bucket > 226, n, 0)) AS SIGNED) AS due_over_1m,
       CAST(SUM(IF(measure = 'due_lateness' AND bucket > 259, n, 0)) AS SIGNED) AS due_over_5m,
       CAST(SUM(IF(measure = 'due_lateness' AND bucket > 282, n, 0)) AS SIGNED) AS due_over_15m,
       CAST(SUM(IF(measure = 'due_lateness' AND bucket > 310, n, 0)) AS SIGNED) AS due_over_1h,
       CAST(SUM(IF(measure = 'due_lateness' AND bucket > 375, n, 0)) AS SIGNED) AS due_over_1d
FROM {prefix}stats_bucket WHERE measure IN ('lateness', 'due_lateness') GROUP BY grain, start, job_exec;
