-- The first keys of a part of all, which are hashes, with the slots that they wait for.
-- Index: UNIQUE (job_key) of future_job, a range, the limit's entries. It has the slot, too: no row is read. Locks: none.
-- 1: first key, 2: last, 3: limit
SELECT next_check_at, job_key FROM {prefix}future_job FORCE INDEX (job_key) WHERE job_key BETWEEN ? AND ? ORDER BY job_key LIMIT ?
