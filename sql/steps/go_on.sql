-- Log that an agent goes on with a run of a job.
-- Index: PRIMARY of job_run_log, one entry. Locks: the row.
-- 1: agent, 2: takeovers, 3: job, 4: occurrence
UPDATE {prefix}job_run_log SET agent = ?, takeovers = ?, ended_at = NULL, result = NULL WHERE job = ? AND occurrence = ?
