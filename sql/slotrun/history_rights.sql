-- May the account read what it writes to history? Nothing is read.
-- Index: none. Locks: none.
SELECT job_key, revision FROM {prefix}job_history WHERE 1 = 0
