-- Forget hours that were summed up, of which there is no history any more.
-- Index: PRIMARY of stats_hour, a range. Locks: the rows.
-- 1: before, 2: limit
DELETE FROM {prefix}stats_hour WHERE start < ? ORDER BY start LIMIT ?
