-- What all must share, what a reslot under way goes to, and which migrations the tables have.
-- Index: PRIMARY of slot_config. Locks: none.
SELECT resolution_s, version, COALESCE(resolution_to_s, 0), schema_version FROM {prefix}slot_config WHERE id = 1
