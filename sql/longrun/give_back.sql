-- Give a run back that was claimed and did not start, or end one whose check is gone. Nobody claims it before a time.
-- Index: PRIMARY of long_run, one entry. Locks: the row.
-- 1: takeovers that it adds, 2: seconds until it may be claimed; NULL for never, 3 and 4: how it ends, NULL for not, 5: job_key, 6: token
UPDATE {prefix}long_run FORCE INDEX (PRIMARY)
SET agent = '', takeovers = takeovers + IF(started_at IS NULL, 0, ?), allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
  ended_at = IF(? IS NULL, NULL, UTC_TIMESTAMP(6)), outcome = ?
WHERE job_key = ? AND token = ? AND allocated_until IS NOT NULL
