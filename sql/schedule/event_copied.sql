-- Put events into the outbox whose payloads are copied from their schedules, so that they do not travel. Which row comes first
-- matters: a key's events are published in the order of seq.
-- Index: PRIMARY of schedule, one entry for each event; PRIMARY and seq of event_outbox, the new entries. Locks: the new rows, and
-- under REPEATABLE READ those of the schedules.
-- {rows}: SELECT … UNION ALL SELECT … with n, shard, id, event_key, generated_at
INSERT INTO {prefix}event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at
  , place -- only vitess
)
SELECT due.shard, due.id, one.topic, one.id, due.generated_at, one.payload, UTC_TIMESTAMP(6)
  , one.place -- only vitess
FROM ({rows}) due STRAIGHT_JOIN {prefix}schedule one FORCE INDEX (PRIMARY) ON one.id = due.event_key
ORDER BY due.n
