-- Note that a consumer works on an event. A duplicate key says that it has before.
-- Index: PRIMARY and seen_at of event_seen. Locks: the new row.
-- 1: the consumer, 2: the id
INSERT INTO {prefix}event_seen (consumer, id, seen_at) VALUES (?, ?, UTC_TIMESTAMP(6))
