-- The resolution is changed: clients and workers may start.
-- Index: PRIMARY of slot_config. Locks: one record.
-- 1: seconds, 2: seconds
UPDATE {prefix}slot_config SET resolution_s = ?, resolution_to_s = NULL, version = version + 1, changed_at = UTC_TIMESTAMP(6)
WHERE id = 1 AND resolution_to_s = ?
