-- Give a bucket another, larger number of buckets of its slot: the slot was opened as one and has many rows since, or
-- parts of its ledger disagree. Only as it was seen, and while no lease of it lives; the token is raised, so that nobody can
-- claim the bucket who saw it before, or go on with it.
-- Index: PRIMARY of slot_run. Locks: one record.
-- 1: buckets, 2: slot, 3: bucket, 4: token, 5: batch_seq, 6: buckets
UPDATE {prefix}slot_run SET buckets = ?, token = token + 1
WHERE slot = ? AND bucket = ? AND token = ? AND batch_seq = ? AND buckets < ?
  AND {free allocated_until}
