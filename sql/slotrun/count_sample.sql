-- How many rows has a part of the slot? Keys are hashes, so that it has the same part of the rows.
-- Index: PRIMARY of future_job, a range; UNIQUE (job_key), which MariaDB 11.8 would rather have, has that part of all slots.
-- Locks: none.
-- {first}, {last}: job_keys (inclusive) as literals
-- 1: slot
SELECT COUNT(*) FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND job_key >= {first} AND job_key <= {last}
