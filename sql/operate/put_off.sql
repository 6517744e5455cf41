-- Which job_execs have rows that were moved on without a call, among the first ones of some slots, and why?
-- The beginning of a reason tells which it is.
-- Index: PRIMARY of future_job, at most the limit's entries. Locks: none.
-- 1: first slot, 2: last slot, 3: limit
SELECT job_exec, COUNT(*) AS looked, COUNT(CASE WHEN put_off_count > 0 THEN 1 END) AS jobs,
  COALESCE(MIN(CASE WHEN put_off_count > 0 THEN due_at END), MIN(due_at),
    TIMESTAMP'1000-01-01 00:00:00') AS since, MAX(put_off_count) AS times,
  COALESCE(MAX(CASE WHEN put_off_count > 0 THEN last_error END), '') AS reason
FROM (SELECT job_exec, due_at, put_off_count, last_error FROM {prefix}future_job FORCE INDEX (PRIMARY)
      WHERE next_check_at >= ? AND next_check_at <= ? ORDER BY next_check_at, job_key LIMIT ?) first_ones
GROUP BY job_exec, CASE WHEN put_off_count > 0 THEN LEFT(last_error, 12) END
