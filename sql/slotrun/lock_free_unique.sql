-- Lock the entries in UNIQUE (job_key) of rows that lock_free.sql has locked, leaving out those that somebody else has: a
-- locking read of a range of keys also locks the entry after the range. To move or delete such a row would wait for that.
-- Index: UNIQUE (job_key), one entry a row. Locks: the entries, and their rows, held already.
-- {keys}: job_keys as hexadecimal literals
-- 1: slot
SELECT job_key, revision FROM {prefix}future_job FORCE INDEX (job_key)
WHERE next_check_at = ? AND (job_key IN ({keys}) OR 1 = 0) FOR UPDATE SKIP LOCKED
