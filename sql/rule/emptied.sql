-- A rule that was deleted, and of which a prune has deleted what it said.
-- Index: PRIMARY of rule, one entry. Locks: none.
-- {name}: which
SELECT occasion, job_exec, CAST(created_at AS CHAR), CAST(updated_at AS CHAR) FROM {prefix}rule FORCE INDEX (PRIMARY) WHERE name = {name}
