-- Delete long runs that nobody will end: their checks, which the app had cancelled or changed while nobody called them, are gone, and
-- no lease of theirs lives.
-- What a foreign key of an app's keeps is passed over.
-- Index: ended_at of long_run, the entries of those that have not ended; UNIQUE (job_key) of future_job, one entry each.
-- Locks: the rows.
-- 1: the check was inserted before, 2: limit
DELETE IGNORE FROM {prefix}long_run
WHERE ended_at IS NULL AND inserted_at < ? AND {free allocated_until}
  AND NOT EXISTS (SELECT 1 FROM {prefix}future_job job FORCE INDEX (job_key) WHERE job.job_key = {prefix}long_run.job_key)
ORDER BY ended_at LIMIT ?
