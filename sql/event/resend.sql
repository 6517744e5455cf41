-- Put events that were set aside into the outbox again, in their order.
-- Index: PRIMARY of event_set_aside, a row for each. Locks: those, and the new ones.
-- {seqs}: numbers. What was set aside before it was said where rows lie goes where its key does.
INSERT INTO {prefix}event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at, trace
  , place -- only vitess
)
SELECT shard, id, topic, event_key, generated_at, payload, UTC_TIMESTAMP(6), trace
  , COALESCE(place, SUBSTRING(UNHEX(SHA2(INSERT(CAST(event_key AS BINARY), LOCATE('/', CAST(event_key AS BINARY)), 1, UNHEX('00')), 256)), 1, 12)) -- only vitess
FROM {prefix}event_set_aside WHERE seq IN ({seqs}) ORDER BY seq FOR UPDATE
