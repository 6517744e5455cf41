-- End a bulk run, in the transaction of its entry in the audit.
-- Index: PRIMARY of bulk_run, one entry. Locks: the row.
-- 1: why it was given up; 2: number
UPDATE {prefix}bulk_run FORCE INDEX (PRIMARY) SET ended_at = UTC_TIMESTAMP(6), error = ?
WHERE number = ? AND ended_at IS NULL
