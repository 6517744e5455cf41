-- Renew the leases of shards, under their tokens. One that lapsed meanwhile and that nobody took is renewed too.
-- Index: PRIMARY of event_shard, a row a shard. Locks: those.
-- 1: for how many microseconds; {shards}: shard = … AND token = … OR …
UPDATE {prefix}event_shard SET allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE {shards}
