-- Divide a slot that was opened as one bucket and finished, and has many rows since. Only as it was seen in the ledger;
-- the token is raised, so that nobody can claim the one bucket who saw it before.
-- Index: PRIMARY of slot_run. Locks: one record.
-- 1: buckets, 2: slot, 3: token, 4: batch_seq
UPDATE {prefix}slot_run SET buckets = ?, token = token + 1
WHERE slot = ? AND bucket = 0 AND token = ? AND batch_seq = ?
  AND buckets = 1 AND allocated_until IS NULL AND finished_at IS NOT NULL
