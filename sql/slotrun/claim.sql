-- Take the lease of a bucket: only as it was seen in the ledger (token and batch_seq), only if it is free or lapsed,
-- only once the slot has come by the database's clock, only at the slot_config that this worker started with.
-- The new token is the one seen plus one, since no other claim can have matched.
-- Index: PRIMARY of slot_run. Locks: one record.
-- 1: worker, 2: lease in microseconds, 3: slot, 4: bucket, 5: token, 6: batch_seq, 7: version
UPDATE {prefix}slot_run
SET takeovers       = takeovers + (allocated_until IS NOT NULL),
    token           = token + 1,
    worker          = ?,
    allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND,
    started_at      = COALESCE(started_at, UTC_TIMESTAMP(6)),
    finished_at     = NULL
WHERE slot = ? AND bucket = ? AND token = ? AND batch_seq = ?
  AND (allocated_until IS NULL OR allocated_until < UTC_TIMESTAMP(6))
  AND slot <= UTC_TIMESTAMP(6)
  AND (SELECT version FROM {prefix}slot_config WHERE id = 1) = ?
