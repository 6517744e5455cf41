-- What a schedule was with a version: what is kept of the first that was so and no earlier.
-- Index: PRIMARY of schedule_version, one entry. Locks: none.
-- {payload}: as that of schedule/find, {id}, {created}: of the schedule, {version}: which
-- +file schedule/parts/version.sql
WHERE schedule = {id}
  AND place IN ({places}) -- only vitess
  AND created_at = {created} AND version >= {version} ORDER BY version LIMIT 1
