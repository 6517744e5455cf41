-- Insert schedules.
-- Index: PRIMARY and owner of schedule, the new entries. Locks: the new rows.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}schedule (id, crontabs, zone, payload, job_exec, topic, owner_name, owner_key, catch_up, catch_up_within,
  expires_after, jitter, may_coalesce, is_long, overlap, tolerance, quota, pool, heartbeat, version, enabled, created_at, utc_offset
  , place -- only vitess
)
VALUES {rows}
