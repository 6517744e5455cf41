-- Which leases live? None that ends more than an hour ahead, the longest there is: it was left before the clock was set back.
-- Index: none: the whole ledger is read. Locks: none.
-- 1: limit
SELECT slot, bucket, worker, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), allocated_until) AS held_us
FROM {prefix}slot_run WHERE allocated_until BETWEEN UTC_TIMESTAMP(6) AND UTC_TIMESTAMP(6) + INTERVAL 1 HOUR
ORDER BY allocated_until DESC LIMIT ?
