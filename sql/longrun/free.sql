-- Lock runs that are to be claimed, or kept, and leave out those that somebody else has locked.
-- Index: PRIMARY of long_run, one entry each. Locks: the rows.
-- {runs}: conditions on job_key and token
SELECT job_key FROM {prefix}long_run FORCE INDEX (PRIMARY) WHERE {runs} OR 1 = 0 ORDER BY job_key FOR UPDATE SKIP LOCKED
