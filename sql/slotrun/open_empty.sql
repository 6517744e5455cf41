-- Note in the ledger that the slot was served and held nothing.
-- Index: PRIMARY of slot_run. Locks: one record.
-- 1: slot, 2: worker, 3: by what it was run, 4: slot
INSERT INTO {prefix}slot_run (slot, bucket, buckets, worker, run_by, started_at, finished_at)
SELECT ?, 0, 1, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM DUAL WHERE CAST(? AS DATETIME) <= UTC_TIMESTAMP(6)
ON DUPLICATE KEY UPDATE {prefix}slot_run.buckets = {prefix}slot_run.buckets
