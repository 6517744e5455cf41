-- End a session.
-- Index: hash of web_session, one entry. Locks: the row.
-- 1: its hash
DELETE FROM {prefix}web_session WHERE hash = ?
