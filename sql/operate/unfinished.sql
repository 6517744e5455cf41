-- Which buckets are neither finished nor held, though nothing is left of their slots, among the latest of the ledger?
-- Index: PRIMARY of slot_run, from its end, the limit's entries; PRIMARY of future_job for each. Locks: none.
-- 1: limit, 2: slots before this one count
SELECT latest.slot, latest.bucket
FROM (SELECT slot, bucket, finished_at, allocated_until FROM {prefix}slot_run ORDER BY slot DESC, bucket DESC LIMIT ?) latest
WHERE latest.finished_at IS NULL AND latest.slot < ?
  AND {free latest.allocated_until}
  AND NOT EXISTS (SELECT 1 FROM {prefix}future_job job WHERE job.next_check_at = latest.slot)
ORDER BY latest.slot, latest.bucket LIMIT 1
