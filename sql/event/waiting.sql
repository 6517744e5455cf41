-- The shards that have events.
-- Index: PRIMARY of event_outbox, a dive for each of up to 64 shards. Locks: none.
SELECT shard FROM {prefix}event_outbox GROUP BY shard
