-- Open all buckets of the slot in the ledger at once. Whoever does so first fixes their number: the statement of another
-- fails by a duplicate key, and opens none. Nothing happens before the slot.
-- Index: PRIMARY of slot_run. Locks: one record each.
-- {buckets}: SELECT 0 AS bucket UNION ALL SELECT 1 …
-- 1: slot, 2: how many the slot has, 3: by what it is run, 4: slot
INSERT INTO {prefix}slot_run (slot, bucket, buckets, run_by)
SELECT ?, opened.bucket, ?, ? FROM ({buckets}) opened WHERE CAST(? AS DATETIME) <= UTC_TIMESTAMP(6)
