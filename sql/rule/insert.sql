-- Insert a rule.
-- Index: PRIMARY of rule, the new entry. Locks: the new row.
-- {name}, {occasion}, {job_exec}, {now}: of the rule
INSERT INTO {prefix}rule (name, version, occasion, job_exec, state, since, created_at, updated_at)
VALUES ({name}, 1, {occasion}, {job_exec}, 'on', {now}, {now}, {now})
