-- How far did the bucket come? Asked when the answer to a COMMIT was lost; waits for a commit that is still under way.
-- Index: PRIMARY of slot_run. Locks: one record, for the moment.
-- 1: slot, 2: bucket
SELECT worker, token, batch_seq FROM {prefix}slot_run WHERE slot = ? AND bucket = ? FOR UPDATE
