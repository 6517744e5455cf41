-- Log that a run of a job begins, with the version that it keeps.
-- Index: PRIMARY of job_run_log, one entry, and those of its other indexes. Locks: the row.
-- 1: job, 2: occurrence, 3: job_key, 4: version, 5: scheduled_at, 6: started_at, 7: agent, 8: takeovers
INSERT INTO {prefix}job_run_log (job, occurrence, job_key, version, scheduled_at, started_at, agent, takeovers)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE version = VALUES(version), started_at = VALUES(started_at), agent = VALUES(agent), takeovers = VALUES(takeovers),
  ended_at = NULL, result = NULL, error = NULL
