-- How many checks are late, by job_exec, among the first that are pending, and when was the first of each due? Those of a job_exec that is
-- paused go from slot to slot, so that they are never overdue.
-- Index: PRIMARY of future_job, at most the limit's entries. Locks: none.
-- 1: limit, 2: due before
SELECT job_exec, COUNT(*) AS waits, MIN(due_at) AS first_due
FROM (SELECT job_exec, due_at FROM {prefix}future_job FORCE INDEX (PRIMARY) ORDER BY next_check_at, job_key LIMIT ?) few
WHERE due_at < ? GROUP BY job_exec
