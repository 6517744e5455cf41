-- Note that an hour compares with history.
-- Index: PRIMARY of stats_hour, one entry. Locks: that.
-- 1: its next look, or NULL, 2: the hour
UPDATE {prefix}stats_hour SET next_look_at = ? WHERE start = ?
