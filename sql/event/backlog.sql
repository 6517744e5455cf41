-- What waits in the outbox by topic, of the first events as they were inserted: how many, and since when. What cannot be published to
-- has its reason.
-- Index: seq of event_outbox, up to the limit, and the row of each; PRIMARY of event_topic, a row a topic. Locks: none.
-- 1: limit
SELECT waits.topic, waits.events, waits.oldest, failing.failing_since, failing.failed_at, failing.event_id,
  failing.reason, UTC_TIMESTAMP(6) AS read_at
FROM (SELECT first.topic, COUNT(*) AS events, MIN(first.inserted_at) AS oldest
      FROM (SELECT topic, inserted_at FROM {prefix}event_outbox FORCE INDEX (seq) ORDER BY seq LIMIT ?) first
      GROUP BY first.topic) waits LEFT JOIN {prefix}event_topic failing ON failing.topic = waits.topic
ORDER BY waits.oldest, waits.topic
