-- How many ends an hour has, up to a limit.
-- Index: PRIMARY of job_history, a range, at most the limit's entries. Locks: none.
-- 1: from, 2: before, 3: limit
SELECT COUNT(*) FROM (SELECT 1 FROM {prefix}job_history FORCE INDEX (PRIMARY) WHERE ended_at >= ? AND ended_at < ? LIMIT ?) ends
