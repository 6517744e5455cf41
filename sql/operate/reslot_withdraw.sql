-- Give a change of the resolution up, before anything was altered.
-- Index: PRIMARY of slot_config. Locks: one record.
-- 1: seconds
UPDATE {prefix}slot_config SET resolution_to_s = NULL, version = version + 1, changed_at = UTC_TIMESTAMP(6)
WHERE id = 1 AND resolution_to_s = ?
