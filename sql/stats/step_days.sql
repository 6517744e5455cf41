-- How long calls of steps took that ended well, the latest first, each in the bucket of its milliseconds.
-- Index: started_at of step_run_log, a range, backwards. Locks: none.
-- 1: from, 2: before, 3: limit
SELECT CAST(DATE(started_at) AS DATETIME) AS start, job_exec, job, step,
  CAST(IF(ended_at >= started_at + INTERVAL 1000 MICROSECOND,
    1 + FLOOR(LN(TIMESTAMPDIFF(MICROSECOND, started_at, ended_at) DIV 1000) / LN(1.05)), 0) AS SIGNED) AS bucket,
  IF(result = 'done', 1, 0) AS n
FROM {prefix}step_run_log FORCE INDEX (started_at) WHERE started_at >= ? AND started_at < ?
ORDER BY started_at DESC LIMIT ?
