-- Begin to change the resolution: from here on nobody claims, inserts through a client, or starts.
-- Index: PRIMARY of slot_config. Locks: one record.
-- 1: seconds, 2: seconds
UPDATE {prefix}slot_config SET resolution_to_s = ?, version = version + 1, changed_at = UTC_TIMESTAMP(6)
WHERE id = 1 AND COALESCE(resolution_to_s, 0) <> ?
