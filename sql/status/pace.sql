-- How many checks ended lately, the latest first, how many of these had been overdue, and since when?
-- Index: PRIMARY of job_history, backwards, at most the limit's entries. Locks: none.
-- 1: slots before this are overdue, 2: from (inclusive), 3: limit
SELECT COUNT(*) AS ended, COALESCE(CAST(SUM(slot < ?) AS SIGNED), 0) AS overdue, MIN(ended_at) AS since
FROM (SELECT slot, ended_at FROM {prefix}job_history FORCE INDEX (PRIMARY) WHERE ended_at >= ? ORDER BY ended_at DESC LIMIT ?) few
