-- Record the row that is about to be run by itself. No row: the lease is lost.
-- Index: PRIMARY of slot_run. Locks: one record.
-- 1: job_key, 2: revision, 3: slot, 4: bucket, 5: worker, 6: token, 7: batch_seq
UPDATE {prefix}slot_run SET attempt_key = ?, attempt_revision = ?
WHERE slot = ? AND bucket = ? AND worker = ? AND token = ? AND batch_seq = ?
