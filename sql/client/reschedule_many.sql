-- Move pending checks to other times, each only if it is still the row that was read. The hint as in delete.sql. All rows are locked
-- before the first is moved, since a server collects them where the key that finds them is changed.
-- Index: PRIMARY of future_job, one entry each. Locks: the rows, in the order of the key.
-- {due_at}, {next_check_at}: CASE job.job_key WHEN … END, or the value that all get; {new_revision}: one for all; {expires_at}: empty,
-- or ", job.expires_at = …" where a row has one; {rows}: the rows as they were read, by next_check_at, job_key and revision
UPDATE {prefix}future_job job FORCE INDEX (PRIMARY)
SET job.due_at = {due_at}, job.next_check_at = {next_check_at}, job.revision = {new_revision}{expires_at}
WHERE {rows}
