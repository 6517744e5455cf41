-- The first end from a time on.
-- Index: PRIMARY of job_history, its first entry from there. Locks: none.
-- 1: the time
SELECT ended_at FROM {prefix}job_history FORCE INDEX (PRIMARY) WHERE ended_at >= ? ORDER BY ended_at LIMIT 1
