-- The first events of a shard, but for topics and keys that are to wait. It always begins with the first: numbers do not commit in
-- order, so what comes before one that was read may have come later; and it is one statement, which sees of two transactions that
-- followed one another never the second alone. A long payload is read when its turn comes.
-- Index: PRIMARY of event_outbox, a range from the beginning of the shard. Locks: none.
-- 1: the shard, 2: limit; {but}: AND topic NOT IN (…) AND event_key NOT IN (…)
SELECT seq, id, topic, event_key, generated_at, inserted_at, COALESCE(LENGTH(payload), 0) AS bytes,
  IF(LENGTH(payload) > 4096, NULL, payload) AS payload, trace
FROM {prefix}event_outbox FORCE INDEX (PRIMARY) WHERE shard = ? {but}ORDER BY seq LIMIT ?
