-- What was committed of a run that this agent has, after a call of which it does not know that. A COMMIT that is under way is waited for.
-- Index: PRIMARY of long_run, one entry. Locks: the row, until the commit.
-- 1: job_key, 2: token
SELECT checkpoint FROM {prefix}long_run FORCE INDEX (PRIMARY) WHERE job_key = ? AND token = ? FOR UPDATE
