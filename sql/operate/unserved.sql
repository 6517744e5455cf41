-- Of which slots are there ends that a worker wrote, and nothing in the ledger, among the latest ends? What is cancelled or
-- superseded ends by a change of the app or of a person, often before its slot.
-- Index: PRIMARY of job_history, from its end, the limit's entries; PRIMARY of slot_run for each. Locks: none.
-- 1: limit, 2: first slot that counts
SELECT DISTINCT latest.slot
FROM (SELECT slot, outcome FROM {prefix}job_history ORDER BY ended_at DESC LIMIT ?) latest
WHERE latest.outcome NOT IN ('cancelled', 'superseded') AND latest.slot >= ?
  AND NOT EXISTS (SELECT 1 FROM {prefix}slot_run run WHERE run.slot = latest.slot) LIMIT 1
