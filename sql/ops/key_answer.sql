-- Note what a deed was answered.
-- Index: PRIMARY of api_key, one entry. Locks: the row, which is this transaction's.
-- 1: the answer; 2: the token; 3: the key
UPDATE {prefix}api_key SET answer = ? WHERE token = ? AND idempotency_key = ?
