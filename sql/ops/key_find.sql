-- An idempotency key: what was asked, what that was answered, and whether it is over 24 hours old.
-- Index: PRIMARY of api_key, one entry. Locks: the row; where another has it, the error comes at once.
-- 1: the token; 2: the key
SELECT body, answer, at < UTC_TIMESTAMP(6) - INTERVAL 24 HOUR AS is_old FROM {prefix}api_key
WHERE token = ? AND idempotency_key = ? FOR UPDATE NOWAIT
