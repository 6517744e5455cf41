-- How many ends the lines of a day have.
-- Index: PRIMARY of stats, a range. Locks: none.
-- 1: the day
SELECT COALESCE(SUM(ends), 0) FROM {prefix}stats FORCE INDEX (PRIMARY) WHERE grain = 'day' AND start = ?
