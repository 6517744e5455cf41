-- End the lease of a bucket; finished says that its range was read to the end, else the bucket is given back unfinished.
-- The last commit of a bucket has it, where that leaves nothing.
-- Index: PRIMARY of slot_run. Locks: one record.
-- 1: finished, 2: slot, 3: bucket, 4: worker, 5: token
UPDATE {prefix}slot_run
SET finished_at = IF(?, UTC_TIMESTAMP(6), NULL), allocated_until = NULL, attempt_key = NULL, attempt_revision = NULL
WHERE slot = ? AND bucket = ? AND worker = ? AND token = ?
