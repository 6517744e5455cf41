-- Move a range of a slot's rows to a later slot.
-- Index: PRIMARY of future_job, a range. Locks: the rows.
-- 1: the later slot, 2: slot, 3: first job_key, 4: last job_key
UPDATE {prefix}future_job SET next_check_at = ?, revision = revision + 1
WHERE next_check_at = ? AND job_key >= ? AND job_key <= ?
