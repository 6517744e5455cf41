-- The versions of a schedule that are kept, the latest first. Text comes in hexadecimal and times as text, as by schedule/find.
-- Index: PRIMARY of schedule_version, a range backwards. Locks: none.
-- {payload}: as that of schedule/find, {id}: of the schedule, {limit}: how many
-- +file schedule/parts/version.sql
WHERE schedule = {id}
  AND place IN ({places}) -- only vitess
ORDER BY created_at DESC, version DESC LIMIT {limit}
