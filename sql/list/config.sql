-- What all must share, what a reslot under way goes to, and to which migration the tables are brought.
-- Index: PRIMARY of slot_config. Locks: none.
SELECT resolution_s, version, COALESCE(resolution_to_s, 0), migrated_to FROM {prefix}slot_config WHERE id = 1
