-- Keep the lease of a bucket for another term. No row: the lease is lost.
-- Index: PRIMARY of slot_run. Locks: one record.
-- 1: lease in microseconds, 2: slot, 3: bucket, 4: worker, 5: token
UPDATE {prefix}slot_run SET allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE slot = ? AND bucket = ? AND worker = ? AND token = ? AND allocated_until IS NOT NULL
