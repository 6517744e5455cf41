-- Take the lease of a bucket: only as it was seen in the ledger (token and batch_seq), only where no lease of it
-- lives, only once the slot has come by the database's clock, only at the slot_config that this worker started with.
-- The new token is the one seen plus the step, since no other claim can have matched. The step is a random number of
-- this claim's own: a claim whose answer was lost knows its token again. What runs the slot late (a sweep) says so only where
-- nobody had the bucket before; that is set first, since started_at tells.
-- Index: PRIMARY of slot_run. Locks: one record.
-- 1: step, 2: worker, 3: lease in microseconds, 4: whether it runs the slot late, 5: by what it is run, 6: slot, 7: bucket, 8: token,
-- 9: batch_seq, 10: version
UPDATE {prefix}slot_run
SET takeovers       = takeovers + (allocated_until IS NOT NULL),
    token           = token + ?,
    worker          = ?,
    allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND,
    run_by          = IF(? AND started_at IS NOT NULL, run_by, ?),
    started_at      = COALESCE(started_at, UTC_TIMESTAMP(6)),
    finished_at     = NULL
WHERE slot = ? AND bucket = ? AND token = ? AND batch_seq = ?
  AND {free allocated_until}
  AND slot <= UTC_TIMESTAMP(6)
  AND (SELECT version FROM {prefix}slot_config WHERE id = 1) = ?
