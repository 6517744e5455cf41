-- How many rows has a 256th of the slot? Keys are hashes, so the slot has about 256 times as many.
-- Index: PRIMARY of future_job, a range; UNIQUE (job_key), which MariaDB 11.8 would rather have, has that part of all slots.
-- Locks: none.
-- 1: slot
SELECT COUNT(*) FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND job_key >= X'80000000000000000000000000000000' AND job_key < X'81000000000000000000000000000000'
