-- Keep what schedules are, before they are changed or deleted. One that is kept already stays as it is: a row that an app wrote by
-- plain SQL stops no change.
-- Index: PRIMARY of schedule and of schedule_version, one entry each. Locks: the rows of schedule, held already, and the new rows.
-- {ids}: a list
INSERT IGNORE INTO {prefix}schedule_version (schedule, created_at, version, ended_at, crontabs, zone, payload, job_exec, topic,
  owner_name, owner_key, catch_up, catch_up_within, expires_after, jitter, may_coalesce, is_long, overlap, tolerance, quota, pool,
  heartbeat
  , place -- only vitess
)
SELECT id, created_at, version, UTC_TIMESTAMP(6), crontabs, zone, payload, job_exec, topic, owner_name, owner_key,
  catch_up, catch_up_within, expires_after, jitter, may_coalesce, is_long, overlap, tolerance, quota, pool, heartbeat
  , place -- only vitess
FROM {prefix}schedule FORCE INDEX (PRIMARY) WHERE (id IN ({ids}) OR 1 = 0)
  AND place IN ({places}) -- only vitess
