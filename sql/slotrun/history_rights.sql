-- May the account read what it writes to history? Nothing is read.
-- Index: PRIMARY of job_history, and no row of it. Locks: none.
SELECT job_key, revision FROM {prefix}job_history WHERE 1 = 0
