-- Set an event aside that the broker refused. The statement after it deletes it from the outbox.
-- Index: PRIMARY of event_outbox. Locks: its row, the new one.
-- 1: its number there, 2: now, 3: the reason, 4: shard, 5: seq
INSERT INTO {prefix}event_set_aside (seq, shard, id, topic, event_key, generated_at, payload, inserted_at, refused_at, reason, trace
  , place -- only vitess
)
SELECT ?, one.shard, one.id, one.topic, one.event_key, one.generated_at, one.payload, one.inserted_at, ?, ?, one.trace
  , one.place -- only vitess
FROM {prefix}event_outbox one WHERE one.shard = ? AND one.seq = ? FOR UPDATE
