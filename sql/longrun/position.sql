-- How far a queue is. No row: it has not handled anything.
-- Index: PRIMARY of queue_position, one entry. Locks: none.
-- 1: name
SELECT version, position, passed FROM {prefix}queue_position WHERE name = ?
