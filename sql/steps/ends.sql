-- How runs ended in history whose log does not say so: those that were cancelled while nobody had them.
-- Index: job_key of job_history, in each of its partitions. Locks: none.
-- {keys}: a list
SELECT HEX(job_key), outcome, CAST(ended_at AS CHAR), HEX(error) FROM {prefix}job_history WHERE job_key IN ({keys})
