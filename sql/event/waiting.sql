-- The shards that have events, with the first of each, and whether events are paused, as shard -1. What plain SQL put into
-- another shard, on tables without CHECKs, is for doctor to name.
-- Index: PRIMARY of event_outbox, a dive for each of up to 64 shards; PRIMARY of job_pause, two entries. Locks: none.
-- 1: the name that stands for everything, 2: the one that stands for events
SELECT shard, MIN(seq) AS seq FROM {prefix}event_outbox WHERE shard < 64 GROUP BY shard
UNION ALL
SELECT -1, CAST(COUNT(*) AS UNSIGNED) FROM {prefix}job_pause WHERE job_exec IN (?, ?)
