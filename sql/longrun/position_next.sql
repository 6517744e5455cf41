-- The next position of a queue. No row: another run of it has saved one meanwhile.
-- Index: PRIMARY of queue_position, one entry. Locks: the row, until the commit.
-- 1: position, 2: passed, NULL where it stays, 3: name, 4: version that was read
UPDATE {prefix}queue_position SET version = version + 1, position = ?, passed = COALESCE(?, passed), updated_at = UTC_TIMESTAMP(6)
WHERE name = ? AND version = ?
