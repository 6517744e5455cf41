-- A page of pending checks, in the order of their keys.
-- Index: UNIQUE (job_key) of future_job, a range, the limit's entries; then PRIMARY, one entry a row. Locks: none.
-- 1: the cursor's job_key, 2: last job_key, 3: limit
SELECT job_key, entity_name, job_exec, inserted_at, first_check_at, next_check_at, check_count
FROM {prefix}future_job FORCE INDEX (job_key)
WHERE job_key > ? AND job_key <= ? ORDER BY job_key LIMIT ?
