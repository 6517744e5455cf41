-- Correct the books inside a commit in which the app had changed rows since they were read. Under the fence's lock.
-- Index: PRIMARY of slot_run. Locks: one record, held already.
-- 1-15: what to take off the counts, 16: slot, 17: bucket
UPDATE {prefix}slot_run
SET moved = moved - ?, put_off = put_off - ?, done = done - ?, max_checks = max_checks - ?, past_return = past_return - ?,
    beyond_horizon = beyond_horizon - ?, failed = failed - ?, timed_out = timed_out - ?, crashed = crashed - ?,
    expired = expired - ?, missed = missed - ?, too_soon = too_soon - ?, overlapped = overlapped - ?, quota = quota - ?,
    dropped = dropped + ?
WHERE slot = ? AND bucket = ?
