-- Which slots were served since a time?
-- Index: PRIMARY of slot_run, a range. Locks: none.
-- 1: from (inclusive), 2: before, 3: limit
SELECT DISTINCT slot FROM {prefix}slot_run WHERE slot >= ? AND slot < ? ORDER BY slot LIMIT ?
