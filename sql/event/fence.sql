-- Which shards are a forwarder's still. A row stays as it is until the transaction is over.
-- Index: PRIMARY of event_shard, a row a shard. Locks: those; shared ones are not to be had on TiDB.
-- {shards}: shard = … AND token = … OR …
SELECT shard, UTC_TIMESTAMP(6) AS read_at FROM {prefix}event_shard WHERE {shards} ORDER BY shard FOR UPDATE
