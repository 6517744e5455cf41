-- Take the row of an agent away, which has ended.
-- Index: PRIMARY of agent. Locks: one record.
-- 1: name, 2: instance
DELETE FROM {prefix}agent WHERE name = ? AND instance = ?
