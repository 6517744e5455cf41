-- Begin a session of somebody whose password was tried, unless that was changed meanwhile.
-- Index: PRIMARY of web_user, one entry; hash of web_session, one entry. Locks: both rows.
-- 1: its hash; 2: where from; 3: what is remembered; 4: for how many microseconds; 5: who; 6: argon2id of the password that was tried
INSERT INTO {prefix}web_session (hash, person, host, data, created_at, ends_at)
SELECT ?, name, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
FROM {prefix}web_user WHERE name = ? AND password = ? AND disabled_at IS NULL FOR UPDATE
