-- Delete what is told of job_execs that no worker has had since a time.
-- Index: seen_at of exec_known, a range. Locks: the rows.
-- 1: before, 2: limit
DELETE FROM {prefix}exec_known WHERE seen_at < ? ORDER BY seen_at LIMIT ?
