-- Which leases live?
-- Index: none: the whole ledger is read. Locks: none.
-- 1: limit
SELECT slot, bucket, worker, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), allocated_until) AS held_us
FROM {prefix}slot_run WHERE {lives allocated_until}
ORDER BY allocated_until DESC LIMIT ?
