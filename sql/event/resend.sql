-- Put events that were set aside into the outbox again, in their order.
-- Index: PRIMARY of event_set_aside, a row for each. Locks: those, and the new ones.
-- {seqs}: numbers
INSERT INTO {prefix}event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at, trace
  , place -- only vitess
)
SELECT shard, id, topic, event_key, generated_at, payload, UTC_TIMESTAMP(6), trace
  , place -- only vitess
FROM {prefix}event_set_aside WHERE seq IN ({seqs}) ORDER BY seq FOR UPDATE
