-- What all must share, and what a reslot under way goes to.
-- Index: PRIMARY of slot_config. Locks: none.
SELECT resolution_s, version, COALESCE(resolution_to_s, 0) FROM {prefix}slot_config WHERE id = 1
