-- Forget versions of a schedule. They are named: a range would lock the gap before it, in which that of another schedule ends.
-- Index: PRIMARY of schedule_version, one entry each. Locks: the rows.
-- {id}: of the schedule, {versions}: conditions on created_at and version
DELETE FROM {prefix}schedule_version WHERE schedule = {id}
  AND place IN ({places}) -- only vitess
  AND ({versions})
