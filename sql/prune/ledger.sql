-- Slots of the ledger, how many rows each has there, and whether they may go: no lease of the slot lives, and nothing is
-- pending for it. LIMIT keeps the optimizers from looking at all that is pending at once.
-- Index: PRIMARY of slot_run, a range; PRIMARY of future_job, one entry a slot. Locks: none.
-- 1: from (inclusive), 2: before, 3: limit
SELECT run.slot AS slot, COUNT(*) AS ledger_rows,
       COALESCE(MAX({lives run.allocated_until}), 0) = 0
       AND (SELECT 1 FROM {prefix}future_job job WHERE job.next_check_at = run.slot LIMIT 1) IS NULL AS may_go
FROM {prefix}slot_run run FORCE INDEX (PRIMARY)
WHERE run.slot >= ? AND run.slot < ? GROUP BY run.slot ORDER BY run.slot LIMIT ?
