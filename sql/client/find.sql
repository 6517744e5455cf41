-- Pending rows by key: one job, the jobs of a bulk insert, or (a prefix of the key) all of one entity. {lock} is empty,
-- or FOR UPDATE where a plain read missed: in an old snapshot a row that moved stays invisible.
-- Index: UNIQUE (job_key). Locks: none, or the rows.
-- Without OR 1 = 0 MariaDB makes a subquery of a list of 1000, and sorts. With it Vitess asks all shards.
-- {columns}: what to read, {keys}: a condition on job.job_key
SELECT {columns}
FROM {prefix}future_job job FORCE INDEX (job_key)
WHERE ({keys} OR 1 = 0) -- only full
WHERE ({keys}) -- only plain
ORDER BY job.job_key {lock}
