-- Events in a shard that no forwarder looks into: plain SQL put them there.
-- Index: PRIMARY of event_outbox, a range. Locks: none.
-- 1: limit
SELECT id FROM {prefix}event_outbox FORCE INDEX (PRIMARY) WHERE shard > 63 ORDER BY shard, seq LIMIT ?
