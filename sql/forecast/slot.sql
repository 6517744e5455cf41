-- The first rows of a slot, in the order of their keys, which are hashes: how far they reach says what share of the slot they are.
-- Index: PRIMARY of future_job, a range, the limit's entries. Locks: none.
-- 1: slot, 2: limit
SELECT next_check_at, job_key, job_exec FROM {prefix}future_job FORCE INDEX (PRIMARY) WHERE next_check_at = ? ORDER BY job_key LIMIT ?
