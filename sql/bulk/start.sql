-- Begin the deed of a preview, once.
-- Index: PRIMARY of bulk_run, one entry. Locks: the row.
-- 1: number; 2: hash of the token
UPDATE {prefix}bulk_run FORCE INDEX (PRIMARY) SET started_at = UTC_TIMESTAMP(6)
WHERE number = ? AND token = ? AND started_at IS NULL AND stopped_at IS NULL AND ended_at IS NULL AND token_until > UTC_TIMESTAMP(6)
