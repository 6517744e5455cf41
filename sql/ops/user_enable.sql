-- Let somebody sign in again.
-- Index: PRIMARY of web_user, one entry. Locks: the row, which is this transaction's.
-- 1: the name
UPDATE {prefix}web_user SET disabled_at = NULL WHERE name = ?
