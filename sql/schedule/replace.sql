-- Put other definitions in the place of those of schedules. What an INSERT gives of a row that is there is not stored but as the
-- UPDATE says: a new row would have version 1. One that is paused keeps an updated_at from before the clock was put back: what was due
-- until then has fired.
-- Index: PRIMARY of schedule, one entry each, and those of owner that change. Locks: the rows, held already.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}schedule (id, crontabs, zone, payload, job_exec, topic, owner_name, owner_key, catch_up, catch_up_within,
  expires_after, jitter, may_coalesce, is_long, overlap, tolerance, quota, pool, heartbeat, version, enabled, created_at, utc_offset
  , place -- only vitess
)
VALUES {rows}
ON DUPLICATE KEY UPDATE crontabs = VALUES(crontabs), zone = VALUES(zone), payload = VALUES(payload), job_exec = VALUES(job_exec),
  topic = VALUES(topic), owner_name = VALUES(owner_name), owner_key = VALUES(owner_key), catch_up = VALUES(catch_up),
  catch_up_within = VALUES(catch_up_within), expires_after = VALUES(expires_after), jitter = VALUES(jitter),
  may_coalesce = VALUES(may_coalesce), is_long = VALUES(is_long), overlap = VALUES(overlap), tolerance = VALUES(tolerance),
  quota = VALUES(quota), pool = VALUES(pool), heartbeat = VALUES(heartbeat), version = LEAST(version, 4294967294) + 1,
  enabled = VALUES(enabled), disabled_at = NULL, disabled_reason = NULL,
  utc_offset = VALUES(utc_offset),
  updated_at = IF(enabled = 0 AND updated_at > UTC_TIMESTAMP(6), updated_at, UTC_TIMESTAMP(6))
