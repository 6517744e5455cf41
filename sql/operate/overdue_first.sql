-- Which rows have been overdue for longest? Those of the first slot, a few.
-- Index: PRIMARY of future_job, at most the limit's entries. Locks: none.
-- 1: slot, 2: limit
SELECT entity_name, entity_key, job_exec FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? ORDER BY job_key LIMIT ?
