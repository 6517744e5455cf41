-- Which leases end further ahead than any is taken for, among the latest rows of the ledger?
-- Index: PRIMARY of slot_run, from its end, at most the limit's entries. Locks: none.
-- 1: limit, 2: limit of the answer
SELECT slot, bucket, worker, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), allocated_until) AS held_us
FROM (SELECT slot, bucket, worker, allocated_until FROM {prefix}slot_run ORDER BY slot DESC, bucket DESC LIMIT ?) latest
WHERE allocated_until > UTC_TIMESTAMP(6) + INTERVAL 1 HOUR ORDER BY slot, bucket LIMIT ?
