-- Begin a session of somebody whom a provider named, unless the name is that of somebody with a password.
-- Index: PRIMARY of web_user, no entry; hash of web_session, one entry. Locks: the row, and the gap in web_user.
-- 1: its hash; 2: who; 3: the role; 4: where from; 5: what is remembered; 6: for how many microseconds; 7: who
INSERT INTO {prefix}web_session (hash, person, role, host, data, created_at, ends_at)
SELECT ?, ?, ?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM {prefix}web_user WHERE name = ?)
