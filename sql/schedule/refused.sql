-- The timers of schedules have found that they are no good. What is there stays.
-- Index: PRIMARY of schedule_refused, the new entries. Locks: the new rows.
-- {rows}: (…), (…)
INSERT IGNORE INTO {prefix}schedule_refused (schedule_id
  , place -- only vitess
) VALUES {rows}
