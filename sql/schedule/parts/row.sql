SELECT HEX(id), crontabs, zone, {payload}, job_exec, topic, owner_name, HEX(owner_key), catch_up, catch_up_within, expires_after,
  jitter, may_coalesce <> 0, version, enabled <> 0, CAST(disabled_at AS CHAR), HEX(disabled_reason), COALESCE(passed_over, 0),
  COALESCE(caught_up, 0),
  CAST(created_at AS CHAR), CAST(COALESCE(updated_at, created_at) AS CHAR),
  is_long <> 0, overlap, tolerance, quota, pool, CAST(last_started_at AS CHAR), utc_offset, heartbeat
