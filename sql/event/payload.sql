-- The payload of an event.
-- Index: PRIMARY of event_outbox. Locks: none.
-- 1: the shard, 2: seq
SELECT payload FROM {prefix}event_outbox WHERE shard = ? AND seq = ?
