-- The number of the last version of a job, which may be one that was deleted since; 0 for none. One of 2^61 and more only plain SQL
-- has written: there would be none after it.
-- Index: PRIMARY of job_version, one entry. Locks: none.
-- {job}: whose
SELECT COALESCE(MAX(version), 0) FROM {prefix}job_version WHERE job = {job} AND version < 2305843009213693952
  AND place IN ({places}) -- only vitess
