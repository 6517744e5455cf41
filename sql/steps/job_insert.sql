-- Insert a job.
-- Index: PRIMARY of job_definition, the new entry. Locks: the new row.
-- {row}: (…) in the order of the columns
INSERT INTO {prefix}job_definition (name, version, definition, created_at, updated_at
  , place -- only vitess
)
VALUES {row}
