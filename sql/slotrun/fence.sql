-- The first statement of every commit: prove the lease, take the next number, renew the lease, and keep the books.
-- An UPDATE, since a read lock does not certify on Galera. No row: the lease is lost, or the commit was done already.
-- Whether the lease has lapsed is not asked. The token says all that counts: as long as it is the same nobody has claimed
-- the bucket since, so that nobody else can have run its rows, and whoever takes the bucket away raises it first (claim,
-- divide, reslot_fence). The commit of a lapsed lease that nobody wanted is as good as any, and this renews the lease.
-- Index: PRIMARY of slot_run. Locks: one record, until the commit.
-- 1: lease in microseconds, 2-16: the counts, 17: slot, 18: bucket, 19: worker, 20: token, 21: batch_seq
UPDATE {prefix}slot_run
SET batch_seq = batch_seq + 1, allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND,
    attempt_key = NULL, attempt_revision = NULL,
    moved = moved + ?, put_off = put_off + ?, done = done + ?, max_checks = max_checks + ?, past_return = past_return + ?,
    beyond_horizon = beyond_horizon + ?, failed = failed + ?, timed_out = timed_out + ?, crashed = crashed + ?,
    expired = expired + ?, missed = missed + ?, too_soon = too_soon + ?, overlapped = overlapped + ?, quota = quota + ?,
    dropped = dropped + ?
WHERE slot = ? AND bucket = ? AND worker = ? AND token = ? AND batch_seq = ?
