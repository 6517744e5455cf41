-- The next rows that are overdue, in the order in which they are swept: what stays there for a reason of its own, as a lock, is among them.
-- Index: PRIMARY of future_job, two ranges, at most the limit's entries of each. Locks: none.
-- 1: slot, 2: behind this job_key, 3: limit, 4: the same slot, 5: for how many seconds overdue, 6 and 7: limit
(SELECT next_check_at, job_key, entity_name, entity_key, job_exec, tag FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND job_key > ? ORDER BY job_key LIMIT ?)
UNION ALL
(SELECT next_check_at, job_key, entity_name, entity_key, job_exec, tag FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at > ? AND next_check_at < UTC_TIMESTAMP() - INTERVAL ? SECOND ORDER BY next_check_at, job_key LIMIT ?)
ORDER BY next_check_at, job_key LIMIT ?
