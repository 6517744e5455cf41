-- Enable or disable schedules.
-- Index: PRIMARY of schedule, one entry each. Locks: the rows.
-- {enabled}: 1 or 0, {disabled_at}, {reason}: NULL, or when and why no person did, {updated_at}: when, {ids}: a list
UPDATE {prefix}schedule FORCE INDEX (PRIMARY)
SET enabled = {enabled}, version = LEAST(version, 4294967294) + 1,
  disabled_at = {disabled_at}, disabled_reason = {reason}, updated_at = {updated_at}
WHERE (id IN ({ids}) OR 1 = 0)
  AND place IN ({places}) -- only vitess
