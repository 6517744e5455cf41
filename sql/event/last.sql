-- The last event of each shard: what a pass is over.
-- Index: PRIMARY of event_outbox, a dive for each of up to 64 shards. Locks: none.
SELECT shard, MAX(seq) AS seq FROM {prefix}event_outbox WHERE shard < 64 GROUP BY shard
