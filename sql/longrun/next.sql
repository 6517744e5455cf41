-- The run that longrun/offer_next has offered, in its transaction.
-- Index: PRIMARY of long_run, the schedule's range. Locks: none.
-- 1: first job_key, 2: last job_key
SELECT job_key, pool, token FROM {prefix}long_run FORCE INDEX (PRIMARY)
WHERE job_key BETWEEN ? AND ? AND allocated_until IS NOT NULL AND started_at IS NULL AND ended_at IS NULL
