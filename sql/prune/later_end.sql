-- Delete the oldest rows of the last partition, which is never dropped.
-- Index: PRIMARY of job_history in p_later, a range. Locks: the rows.
-- 1: ended before, 2: limit
DELETE FROM {prefix}job_history PARTITION (p_later) WHERE ended_at < ? ORDER BY ended_at, job_key, revision LIMIT ?
