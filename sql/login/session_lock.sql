-- Lock a session whose use is to be noted. Where somebody else has the row, the error comes at once.
-- Index: hash of web_session, one entry. Locks: the row.
-- 1: its hash
SELECT number FROM {prefix}web_session WHERE hash = ? FOR UPDATE NOWAIT
