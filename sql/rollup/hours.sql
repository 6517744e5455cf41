-- Hours that are summed up, from a time on.
-- Index: PRIMARY of stats_hour, a range. Locks: none.
-- 1: from, 2: before, 3: limit
SELECT start, ends FROM {prefix}stats_hour FORCE INDEX (PRIMARY) WHERE start >= ? AND start < ? ORDER BY start LIMIT ?
