-- The shards that have events, with the first of each. What plain SQL put into another one, on tables without CHECKs, is for doctor to name.
-- Index: PRIMARY of event_outbox, a dive for each of up to 64 shards. Locks: none.
SELECT shard, MIN(seq) AS seq FROM {prefix}event_outbox WHERE shard < 64 GROUP BY shard
