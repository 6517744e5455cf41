-- The versions of a job, the latest first.
-- Index: PRIMARY of job_version, a range backwards. Locks: none.
-- {job}: whose, {limit}: how many
SELECT version, HEX(definition), CAST(created_at AS CHAR) FROM {prefix}job_version
WHERE job = {job}
  AND place IN ({places}) -- only vitess
ORDER BY version DESC LIMIT {limit}
