-- Take shards whose leases are over.
-- Index: PRIMARY of event_shard, a row a shard. Locks: those.
-- 1: the forwarder, 2: for how many microseconds; {shards}: numbers
UPDATE {prefix}event_shard SET token = token + 1, forwarder = ?, leased_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE shard IN ({shards}) AND leased_until <= UTC_TIMESTAMP(6)
