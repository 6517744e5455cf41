-- What all must share.
-- Index: PRIMARY of slot_config. Locks: none.
SELECT resolution_s, version FROM {prefix}slot_config WHERE id = 1
