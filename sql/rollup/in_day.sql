-- Note that the sums of the hours of a day went into those of the day.
-- Index: PRIMARY of stats_hour, a range of 24 entries at most. Locks: those.
-- 1: from, 2: before
UPDATE {prefix}stats_hour SET day_at = UTC_TIMESTAMP(6) WHERE start >= ? AND start < ?
