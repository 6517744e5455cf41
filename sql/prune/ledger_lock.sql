-- Lock the ledger of slots, and see which of them have a lease that lives, or something pending, since ledger.sql looked.
-- Index: PRIMARY of slot_run, a range a slot; PRIMARY of future_job, one entry a row. Locks: the rows of slot_run.
-- {slots}: slots as literals
SELECT run.slot AS slot,
       COALESCE({lives run.allocated_until}, 0) = 0
       AND (SELECT 1 FROM {prefix}future_job job WHERE job.next_check_at = run.slot LIMIT 1) IS NULL AS may_go
FROM {prefix}slot_run run FORCE INDEX (PRIMARY)
WHERE (run.slot IN ({slots}) OR 1 = 0) FOR UPDATE
