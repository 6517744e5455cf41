-- The shards, who has each, whether the lease lives, and how many forwarders are alive.
-- Index: PRIMARY of event_shard, 64 rows; event_forwarder, a few. Locks: none.
SELECT one.shard, one.token, one.forwarder, one.leased_until > UTC_TIMESTAMP(6) AS lives,
  (SELECT COUNT(*) FROM {prefix}event_forwarder alive WHERE alive.seen_until > UTC_TIMESTAMP(6)) AS forwarders
FROM {prefix}event_shard one ORDER BY one.shard
