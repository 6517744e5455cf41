-- How many rows lie in the last partition, up to a limit, and when did the first of them end?
-- Index: PRIMARY of job_history in p_later, at most the limit's entries. Locks: none.
-- 1: limit
SELECT COUNT(*), MIN(ended_at)
FROM (SELECT ended_at FROM {prefix}job_history PARTITION (p_later) ORDER BY ended_at, job_key, revision LIMIT ?) few
