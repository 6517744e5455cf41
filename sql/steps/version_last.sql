-- The number of the last version of a job, which may be one that was deleted since; 0 for none.
-- Index: PRIMARY of job_version, one entry. Locks: none.
-- {job}: whose
SELECT COALESCE(MAX(version), 0) FROM {prefix}job_version WHERE job = {job}
