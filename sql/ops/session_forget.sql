-- Forget a session.
-- Index: PRIMARY of web_session, one entry. Locks: the row, which is this transaction's.
-- 1: its number
DELETE FROM {prefix}web_session WHERE number = ?
