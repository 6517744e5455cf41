SELECT HEX(schedule), crontabs, zone, {payload}, job_exec, topic, owner_name, HEX(owner_key), catch_up, catch_up_within, expires_after,
  jitter, may_coalesce <> 0, version, is_long <> 0, overlap, tolerance, quota, pool, heartbeat, CAST(created_at AS CHAR),
  CAST(ended_at AS CHAR)
FROM {prefix}schedule_version FORCE INDEX (PRIMARY)
