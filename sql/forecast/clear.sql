-- Take what a turn of the forecast said of slots or of days away.
-- Index: PRIMARY of forecast, a range. MySQL would scan the table for two of them.
-- Locks: the lines, of which whoever has the duty alone writes.
-- 1: the slots or days of the turn
DELETE line FROM ({prefix}forecast line FORCE INDEX (PRIMARY)) -- only full
DELETE line FROM {prefix}forecast line FORCE INDEX (PRIMARY) -- only plain
WHERE line.grain = ?
