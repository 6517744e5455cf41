-- A version of a job.
-- Index: PRIMARY of job_version, one entry. Locks: none.
-- {job}: whose, {version}: which
SELECT version, HEX(definition), CAST(created_at AS CHAR) FROM {prefix}job_version
WHERE job = {job} AND version = {version}
  AND place IN ({places}) -- only vitess
