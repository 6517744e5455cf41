-- Open a bucket of the slot in the ledger: whoever opens bucket 0 first fixes the number of buckets. Nothing happens
-- before the slot, or when the bucket is there already.
-- Index: PRIMARY of slot_run. Locks: one record.
-- 1: slot, 2: bucket, 3: buckets, 4: slot
INSERT INTO {prefix}slot_run (slot, bucket, buckets)
SELECT ?, ?, ? FROM DUAL WHERE CAST(? AS DATETIME) <= UTC_TIMESTAMP(6)
ON DUPLICATE KEY UPDATE {prefix}slot_run.buckets = {prefix}slot_run.buckets
