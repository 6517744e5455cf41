-- Let a token that was replaced be good for a while still, but not for longer than it was.
-- Index: PRIMARY of api_token, one entry. Locks: the row, which is this transaction's.
-- 1: for how many microseconds; 2: its number
UPDATE {prefix}api_token SET expires_at = LEAST(expires_at, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND) WHERE number = ?
