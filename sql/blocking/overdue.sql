-- The rows that have been overdue for longest: what stays there for a reason of its own, as a lock, is among them.
-- Index: PRIMARY of future_job, at most the limit's entries. Locks: none.
-- 1: first slot, 2: for how many seconds, 3: limit
SELECT next_check_at, job_key, entity_name, entity_key, job_exec, tag FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at >= ? AND next_check_at < UTC_TIMESTAMP() - INTERVAL ? SECOND ORDER BY next_check_at, job_key LIMIT ?
