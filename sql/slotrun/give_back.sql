-- Give back a lease that lapsed while the server was away, by a worker that lives: the bucket is free again, and no takeover
-- was one from a dead worker. Where another took it over meanwhile, that counts no more, nor does the row that was being
-- run by itself, if it is still the one on record. Only as the bucket was seen (token and takeovers): whoever repeats it
-- because the answer was lost takes nothing back twice.
-- Index: PRIMARY of slot_run. Locks: one record.
-- 1: token, 2: token, 3: job_key of that row, 4: its revision, 5: the same job_key, 6: slot, 7: bucket, 8: token as seen,
-- 9: takeovers as seen, at least one where the two tokens differ
UPDATE {prefix}slot_run
SET takeovers        = IF(token = ?, takeovers, takeovers - 1),
    allocated_until  = IF(token = ?, NULL, allocated_until),
    attempt_revision = IF(attempt_key = ? AND attempt_revision = ?, NULL, attempt_revision),
    attempt_key      = IF(attempt_key = ? AND attempt_revision IS NULL, NULL, attempt_key)
WHERE slot = ? AND bucket = ? AND token = ? AND takeovers = ?
