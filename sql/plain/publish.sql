-- What CALL publish does: puts an event into the outbox, in the app's transaction. Events of one key are published in their order; the id
-- is the same for each copy of the event. The role app-sql is enough.
-- A sharded keyspace of Vitess is to be given place, too: SUBSTRING(@first, 1, 12), where the key is entity_name/entity_key of check.sql. Without,
-- it answers OK and writes nothing.
SET @topic = 'orders.late', @event_key = 'order/42', @id = 'order-42-late', @body = '{"order":42}';
INSERT INTO event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at)
VALUES (CONV(SUBSTRING(SHA2(@event_key, 256), 1, 2), 16, 10) % 64, @id, @topic, @event_key, UTC_TIMESTAMP(6), @body, UTC_TIMESTAMP(6));
