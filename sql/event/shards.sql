-- The shards, who has each, whether the lease lives, and how many forwarders are alive.
-- Index: PRIMARY of event_shard, 64 rows; event_forwarder, a few. Locks: none.
SELECT one.shard, one.token, one.forwarder, {lives one.allocated_until} AS lives,
  (SELECT COUNT(*) FROM {prefix}event_forwarder alive WHERE {lives alive.seen_until}) AS forwarders
FROM {prefix}event_shard one ORDER BY one.shard
