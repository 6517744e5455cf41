-- Delete a job that is locked.
-- Index: PRIMARY of job_definition, one entry. Locks: the row, held already.
-- {name}: which
DELETE FROM {prefix}job_definition WHERE name = {name}
  AND place IN ({places}) -- only vitess
