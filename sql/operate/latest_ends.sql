-- When did jobs end last? Without OR 1 = 0 MariaDB makes a subquery of a list of 1000.
-- Index: KEY (job_key) of job_history, the entries of these jobs. Locks: none.
-- {keys}: job_keys as hexadecimal literals
SELECT job_key, MAX(ended_at) FROM {prefix}job_history FORCE INDEX (job_key)
WHERE (job_key IN ({keys}) OR 1 = 0) GROUP BY job_key
