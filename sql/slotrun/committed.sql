-- Who has the bucket, and how far did it come? Asked when the answer to a COMMIT or to a claim was lost; waits for a
-- commit that is still under way.
-- Index: PRIMARY of slot_run. Locks: one record, for the moment.
-- 1: slot, 2: bucket
SELECT worker, token, batch_seq FROM {prefix}slot_run WHERE slot = ? AND bucket = ? FOR UPDATE
