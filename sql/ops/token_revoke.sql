-- Revoke a token.
-- Index: PRIMARY of api_token, one entry. Locks: the row, which is this transaction's.
-- 1: its number
UPDATE {prefix}api_token SET revoked_at = UTC_TIMESTAMP(6) WHERE number = ?
