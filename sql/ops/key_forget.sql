-- Forget an idempotency key.
-- Index: PRIMARY of api_key, one entry. Locks: the row.
-- 1: the token; 2: the key
DELETE FROM {prefix}api_key WHERE token = ? AND idempotency_key = ?
