-- Since when have the slots been what they are?
-- Index: PRIMARY of slot_config. Locks: none.
SELECT changed_at FROM {prefix}slot_config WHERE id = 1
