-- The next rows of a bucket, by their keys, and what they are.
-- Index: PRIMARY of future_job, a range. Locks: none.
-- 1: slot, 2: first job_key, 3: last job_key, 4: limit
SELECT job_key, job_exec, entity_name FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND job_key >= ? AND job_key <= ? ORDER BY job_key LIMIT ?
