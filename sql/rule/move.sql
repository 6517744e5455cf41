-- Move pending checks to the times that another version of their rule gives them, each only if it is still the row that was read and
-- locked.
-- Index: PRIMARY of future_job, one entry each. Locks: the rows, held already, and on MariaDB neighbours in UNIQUE (job_key).
-- {due_at}, {next_check_at}, {expires_at}: CASE job.job_key WHEN … END, {version}: of the rule, {new_revision}: one for all,
-- {rows}: the rows as they were read, by next_check_at, job_key and revision
UPDATE {prefix}future_job job FORCE INDEX (PRIMARY)
SET job.due_at = {due_at}, job.next_check_at = {next_check_at}, job.expires_at = {expires_at}, job.rule_version = {version},
    job.revision = {new_revision}
WHERE {rows}
