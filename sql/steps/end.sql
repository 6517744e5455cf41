-- Log that a run of a job ended, or was not begun at all. An error that stands there already stays where the end has none.
-- Index: PRIMARY of job_run_log, one entry, and those of its other indexes of a new one. Locks: the row.
-- 1: job, 2: occurrence, 3: job_key, 4: scheduled_at, 5: ended_at, 6: agent, 7: result, 8: error
INSERT INTO {prefix}job_run_log (job, occurrence, job_key, scheduled_at, ended_at, agent, result, error)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE ended_at = VALUES(ended_at), agent = IF(agent = '', VALUES(agent), agent), result = VALUES(result),
  error = COALESCE(VALUES(error), error)
