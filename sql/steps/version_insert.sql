-- Keep a version of a job.
-- Index: PRIMARY of job_version, the new entry. Locks: the new row.
-- {row}: (…) in the order of the columns
INSERT INTO {prefix}job_version (job, version, definition, created_at
  , place -- only vitess
)
VALUES {row}
