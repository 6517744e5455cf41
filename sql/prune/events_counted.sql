-- Delete counts of published events.
-- Index: PRIMARY of event_count, a range. Locks: the rows.
-- 1: of slots before, 2: limit
DELETE FROM {prefix}event_count WHERE slot < ? ORDER BY slot, topic LIMIT ?
