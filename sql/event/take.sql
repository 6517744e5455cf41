-- Take shards whose leases are over.
-- Index: PRIMARY of event_shard, a row a shard. Locks: those.
-- 1: by how much the tokens rise, 2: the forwarder, 3: for how many microseconds; {shards}: numbers
UPDATE {prefix}event_shard SET token = token + ?, forwarder = ?, allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE shard IN ({shards}) AND {free allocated_until}
