-- The resolution in tables that lack columns of slot_config yet.
-- Index: PRIMARY of slot_config. Locks: none.
SELECT resolution_s FROM {prefix}slot_config WHERE id = 1
