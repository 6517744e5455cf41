-- Take the second of a run by hand, so that no two have one id. No row changes where one was in this second, or in a later one.
-- Index: PRIMARY of schedule, one entry. Locks: the row, held already.
-- {second}: of the run, {id}: of the schedule
UPDATE {prefix}schedule FORCE INDEX (PRIMARY) SET by_hand_at = {second}
WHERE id = {id}
  AND place IN ({places}) -- only vitess
  AND (by_hand_at IS NULL OR by_hand_at < {second})
