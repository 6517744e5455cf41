-- Have a session that is used go on, but no longer than one is good.
-- Index: hash of web_session, one entry. Locks: the row, which is this transaction's.
-- 1: for how many microseconds one is good at most; 2: for how many one that is not used; 3: its hash
UPDATE {prefix}web_session
SET ends_at = LEAST(created_at + INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND) WHERE hash = ?
