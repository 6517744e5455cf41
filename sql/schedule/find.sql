-- Schedules by their ids, in the order of these. {lock} is empty, or FOR UPDATE where they are to be changed. Text comes in
-- hexadecimal and times as text, since this runs on the app's connection, whose settings are its own. Who wants no payload gives
-- NULL, NULL for {payload}; else it is what an event, or a run, carries, and how many bytes that has.
-- Index: PRIMARY of schedule, one entry each. Locks: none, or the rows.
-- Without OR 1 = 0 MariaDB makes a subquery of a list of 1000, and sorts.
-- {payload}: payload or NULL, and its length or NULL, {ids}: a list
SELECT HEX(id), crontabs, zone, {payload}, job_exec, topic, owner_name, HEX(owner_key), catch_up, catch_up_within, expires_after,
  jitter, may_coalesce <> 0, version, enabled <> 0, CAST(disabled_at AS CHAR), HEX(disabled_reason), COALESCE(passed_over, 0),
  COALESCE(caught_up, 0),
  CAST(created_at AS CHAR), CAST(COALESCE(updated_at, created_at) AS CHAR),
  is_long <> 0, overlap, tolerance, quota, pool, CAST(last_started_at AS CHAR), utc_offset
FROM {prefix}schedule FORCE INDEX (PRIMARY)
WHERE (id IN ({ids}) OR 1 = 0) ORDER BY id {lock}
