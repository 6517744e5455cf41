-- The first rows of some time.
-- Index: PRIMARY of future_job, a range, the limit's entries. Locks: none.
-- 1: from (inclusive), 2: before, 3: limit
SELECT next_check_at, job_key, job_exec FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at >= ? AND next_check_at < ? ORDER BY next_check_at, job_key LIMIT ?
