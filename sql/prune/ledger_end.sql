-- Delete the ledger of slots, unless somebody took a lease or something came to be pending since ledger.sql looked.
-- Index: PRIMARY of slot_run, a range a slot; PRIMARY of future_job, one entry a slot. Locks: the rows.
-- {slots}: slots as literals
DELETE run FROM {prefix}slot_run run FORCE INDEX (PRIMARY)
WHERE (run.slot IN ({slots}) OR 1 = 0)
  AND (run.allocated_until IS NULL OR run.allocated_until < UTC_TIMESTAMP(6))
  AND (SELECT 1 FROM {prefix}future_job job WHERE job.next_check_at = run.slot LIMIT 1) IS NULL
