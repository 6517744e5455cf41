-- Change a job that is locked.
-- Index: PRIMARY of job_definition, one entry. Locks: the row, held already.
-- {version}: the new one, {definition}: as JSON, {name}: which
UPDATE {prefix}job_definition SET version = {version}, definition = {definition}, updated_at = UTC_TIMESTAMP(6)
WHERE name = {name}
  AND place IN ({places}) -- only vitess
