-- Note that an hour was summed up.
-- Index: PRIMARY of stats_hour, one entry. Locks: that.
-- 1: the hour, 2: how many ends, 3: its next look, or NULL
INSERT INTO {prefix}stats_hour (start, ends, next_look_at, summed_at, day_at) VALUES (?, ?, ?, UTC_TIMESTAMP(6), NULL)
ON DUPLICATE KEY UPDATE ends = VALUES(ends), next_look_at = VALUES(next_look_at), summed_at = VALUES(summed_at), day_at = NULL
