-- Delete the log of calls of steps that ended, or whose runs are gone from theirs.
-- What a foreign key of an app's keeps is passed over.
-- Index: started_at of step_run_log, a range; PRIMARY of job_run_log, one entry each of those that have not ended. Locks: the rows.
-- 1: called before, 2: limit
DELETE IGNORE FROM {prefix}step_run_log
WHERE started_at < ? AND (ended_at IS NOT NULL OR NOT EXISTS (SELECT 1 FROM {prefix}job_run_log run FORCE INDEX (PRIMARY)
    WHERE run.job = {prefix}step_run_log.job AND run.occurrence = {prefix}step_run_log.occurrence))
ORDER BY started_at LIMIT ?
