-- The first position of a queue. It is a duplicate where another run of it has saved one.
-- Index: PRIMARY of queue_position. Locks: the new row, until the commit.
-- 1: name, 2: position, 3: passed
INSERT INTO {prefix}queue_position (name, version, position, passed, updated_at) VALUES (?, 1, ?, ?, UTC_TIMESTAMP(6))
