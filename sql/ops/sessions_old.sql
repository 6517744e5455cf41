-- Sessions that are over, up to five hundred, but for those that somebody has locked. In the dialect plain the error comes at once
-- where there is one.
-- Index: ends_at of web_session, as many entries. Locks: the rows.
SELECT number FROM {prefix}web_session FORCE INDEX (ends_at)
WHERE ends_at < UTC_TIMESTAMP(6) ORDER BY ends_at LIMIT 500 FOR UPDATE SKIP LOCKED
