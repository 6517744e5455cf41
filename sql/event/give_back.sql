-- Give shards back, so that others may take them at once.
-- Index: PRIMARY of event_shard, a row a shard. Locks: those.
-- {shards}: shard = … AND token = … OR …
UPDATE {prefix}event_shard SET allocated_until = UTC_TIMESTAMP(6) WHERE {shards}
