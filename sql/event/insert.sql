-- Put events into the outbox.
-- Index: PRIMARY and seq of event_outbox, the new entries. Locks: the new rows.
-- {trace}: empty, or , trace; {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at{trace}
  , place -- only vitess
)
VALUES {rows}
