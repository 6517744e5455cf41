-- Who nears the guard max_checks, by hour and by day: how many checks had been told to come again 80 % as often as it allows, or more? max_checks is
-- the guard that a worker told of last. Give a condition on grain and start.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}stats_near_guard AS
SELECT counted.grain, counted.start, counted.job_exec, guard.max_checks, CAST(SUM(counted.n) AS SIGNED) AS ends,
       CAST(SUM(IF(counted.bucket >= 1 + FLOOR(LN(GREATEST(0.8 * guard.max_checks, 1)) / LN(1.05)), counted.n, 0)) AS SIGNED) AS near
FROM {prefix}stats_bucket counted
JOIN (SELECT known.job_exec, MAX(CAST(JSON_EXTRACT(known.guards, '$.max_checks') AS SIGNED)) AS max_checks
      FROM {prefix}exec_known known
      JOIN (SELECT job_exec, MAX(seen_at) AS seen_at FROM {prefix}exec_known GROUP BY job_exec) latest
        ON latest.job_exec = known.job_exec AND latest.seen_at = known.seen_at GROUP BY known.job_exec) guard ON guard.job_exec = counted.job_exec
WHERE counted.measure = 'checks' AND guard.max_checks > 0
GROUP BY counted.grain, counted.start, counted.job_exec, guard.max_checks;
