-- Log that a step is called.
-- Index: PRIMARY of step_run_log, one entry, and that of started_at. Locks: the new row.
-- 1: job, 2: occurrence, 3: seq, 4: position, 5: step, 6: job_exec, 7: attempt, 8: scheduled_at, 9: agent
INSERT INTO {prefix}step_run_log (job, occurrence, seq, position, step, job_exec, attempt, scheduled_at, started_at, agent)
VALUES (?, ?, ?, ?, ?, ?, ?, COALESCE(?, UTC_TIMESTAMP(6)), UTC_TIMESTAMP(6), ?)
