-- Remember something else in a session.
-- Index: hash of web_session, one entry. Locks: the row.
-- 1: what is remembered; 2: for how many microseconds still; 3: its hash
UPDATE {prefix}web_session SET data = ?, ends_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE hash = ?
