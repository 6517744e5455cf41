-- Note that somebody uses the page.
-- Index: PRIMARY of web_user, one entry. Locks: the row, which is this transaction's.
-- 1: the name
UPDATE {prefix}web_user SET last_used_at = UTC_TIMESTAMP(6) WHERE name = ?
