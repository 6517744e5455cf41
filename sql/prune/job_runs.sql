-- Delete the log of runs of jobs that ended, or that nobody will end.
-- What a foreign key of an app's keeps is passed over.
-- Index: scheduled_at of job_run_log, a range; PRIMARY of long_run, one entry each of those that have not ended. Locks: the rows.
-- 1: due before, 2: limit
DELETE IGNORE FROM {prefix}job_run_log
WHERE scheduled_at < ? AND (ended_at IS NOT NULL OR NOT EXISTS (SELECT 1 FROM {prefix}long_run run FORCE INDEX (PRIMARY)
    WHERE run.job_key = {prefix}job_run_log.job_key AND run.ended_at IS NULL))
ORDER BY scheduled_at LIMIT ?
