-- Of which version are the tables of a shard? No row where a reshard made them and nobody has prepared it, and an error where not all are
-- there.
-- Index: PRIMARY of slot_config, an entry. Locks: none.
SELECT migrated_to FROM {prefix}slot_config WHERE id = 1 AND (SELECT COUNT(*) FROM {prefix}rule_version WHERE 1 = 0) = 0
