-- Is anything due at this slot, what time is it by the database's clock, and at which version is slot_config?
-- Index: PRIMARY of future_job, one entry. Locks: none.
-- 1: slot
SELECT UTC_TIMESTAMP(6),
       EXISTS (SELECT 1 FROM {prefix}future_job WHERE next_check_at = ?),
       (SELECT version FROM {prefix}slot_config WHERE id = 1)
