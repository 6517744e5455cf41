-- Log what became of the call of a step.
-- Index: PRIMARY of step_run_log, one entry. Locks: the row.
-- 1: result, 2: error, 3: output, 4: output_cut, 5: job, 6: occurrence, 7: seq
UPDATE {prefix}step_run_log SET ended_at = UTC_TIMESTAMP(6), result = ?, error = ?, output = ?, output_cut = ?
WHERE job = ? AND occurrence = ? AND seq = ?
