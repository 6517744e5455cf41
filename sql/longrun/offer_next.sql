-- Offer the run of a schedule that waits for the end of another one to the agents of its pool.
-- Index: PRIMARY of long_run, the schedule's range. Locks: the row that it offers, until the commit.
-- 1: allocated_until, 2: first job_key, 3: last job_key
UPDATE {prefix}long_run FORCE INDEX (PRIMARY) SET allocated_until = ?
WHERE job_key BETWEEN ? AND ? AND allocated_until IS NULL AND started_at IS NULL AND ended_at IS NULL
