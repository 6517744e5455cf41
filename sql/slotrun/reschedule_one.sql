-- Move one row of those that reschedule.sql moves together, where there is no JSON_TABLE. What else can stand in the place of
-- that made TiDB read the table for seconds.
-- Index: PRIMARY of future_job, one entry. Locks: the row, held already.
-- 1: next_check_at, 2: due_at, 3: check_count, 4: error_count, 5: put_off_count, 6: total_ms, 7: last_error, 8: expires_at,
-- 9: slot, 10: job_key, 11: revision
UPDATE {prefix}future_job FORCE INDEX (PRIMARY)
SET next_check_at = ?, due_at = ?, check_count = ?, error_count = ?, put_off_count = ?, total_ms = ?, last_error = ?,
    expires_at = ?, revision = IF(revision < 18446744073709551615, revision + 1, 0)
WHERE next_check_at = ? AND job_key = ? AND revision = ?
