-- Open the buckets that a slot lacks, where some are there and say how many it has. Nothing happens before the slot, or to
-- buckets that are there already.
-- Index: PRIMARY of slot_run. Locks: one record each.
-- {buckets}: SELECT 0 AS bucket UNION ALL SELECT 2 …
-- 1: slot, 2: how many the slot has, 3: by what it is run, 4: slot
INSERT INTO {prefix}slot_run (slot, bucket, buckets, run_by)
SELECT ?, opened.bucket, ?, ? FROM ({buckets}) opened WHERE CAST(? AS DATETIME) <= UTC_TIMESTAMP(6)
ON DUPLICATE KEY UPDATE {prefix}slot_run.buckets = {prefix}slot_run.buckets
