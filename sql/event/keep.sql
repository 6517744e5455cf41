-- Keep events that are about to be deleted as published.
-- Index: seq of event_outbox, an entry for each. Locks: the rows.
-- 1: now; {seqs}: numbers
INSERT INTO {prefix}event_published (published_at, seq, id, topic, event_key, generated_at, payload, inserted_at, trace
  , place -- only vitess
)
SELECT ?, one.seq, one.id, one.topic, one.event_key, one.generated_at, one.payload, one.inserted_at, one.trace
  , one.place -- only vitess
FROM {prefix}event_outbox one FORCE INDEX (seq) WHERE one.seq IN ({seqs}) FOR UPDATE
