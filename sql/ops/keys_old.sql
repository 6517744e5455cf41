-- Idempotency keys that are over 24 hours old, up to five hundred, but for those that somebody has locked. In the dialect plain
-- the error comes at once where there is one.
-- Index: at of api_key, as many entries. Locks: the rows.
SELECT token, idempotency_key FROM {prefix}api_key FORCE INDEX (at)
WHERE at < UTC_TIMESTAMP(6) - INTERVAL 24 HOUR ORDER BY at LIMIT 500 FOR UPDATE SKIP LOCKED
