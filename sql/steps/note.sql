-- Log what went wrong in a run of a job that goes on.
-- Index: PRIMARY of job_run_log, one entry. Locks: the row.
-- 1: error, 2: job, 3: occurrence
UPDATE {prefix}job_run_log SET error = ? WHERE job = ? AND occurrence = ?
