-- What time is it by the database's clock, and at which version is slot_config?
-- Index: PRIMARY of slot_config. Locks: none.
SELECT CAST(UTC_TIMESTAMP(6) AS CHAR), version FROM {prefix}slot_config WHERE id = 1
