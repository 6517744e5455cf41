-- Note that a token was used.
-- Index: PRIMARY of api_token, one entry. Locks: the row, which is this transaction's.
-- 1: its number
UPDATE {prefix}api_token SET last_used_at = UTC_TIMESTAMP(6) WHERE number = ?
