-- Log that the calls of steps of a run came to no answer: their agent is gone.
-- Index: PRIMARY of step_run_log, a range. Locks: those rows.
-- 1: result, 2: error, 3: job, 4: occurrence
UPDATE {prefix}step_run_log SET ended_at = UTC_TIMESTAMP(6), result = ?, error = ?
WHERE job = ? AND occurrence = ? AND ended_at IS NULL
