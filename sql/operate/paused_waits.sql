-- How many checks of a job_exec that is paused are late, among the first that are pending, and when was the first of them due? They go
-- from slot to slot, so that they are never overdue.
-- Index: PRIMARY of future_job, at most the limit's entries. Locks: none.
-- 1: limit, 2: job_exec, 3: due before
SELECT COUNT(*) AS waits, MIN(due_at) AS first_due
FROM (SELECT job_exec, due_at FROM {prefix}future_job FORCE INDEX (PRIMARY) ORDER BY next_check_at, job_key LIMIT ?) few
WHERE job_exec = ? AND due_at < ?
