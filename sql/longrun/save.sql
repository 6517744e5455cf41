-- Keep the checkpoint of a run. No row: it is lost.
-- Index: PRIMARY of long_run. Locks: one record.
-- 1: checkpoint, 2: job_key, 3: token
UPDATE {prefix}long_run SET checkpoint = ? WHERE job_key = ? AND token = ? AND allocated_until IS NOT NULL
