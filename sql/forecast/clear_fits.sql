-- Take whether the slots or days of a turn of the forecast end in time away.
-- Index: PRIMARY of forecast_fit, a range. MySQL would scan the table for two of them.
-- Locks: the rows, of which whoever has the duty alone writes.
-- 1: the slots or days of the turn
DELETE line FROM ({prefix}forecast_fit line FORCE INDEX (PRIMARY)) -- only full
DELETE line FROM {prefix}forecast_fit line FORCE INDEX (PRIMARY) -- only plain
WHERE line.grain = ?
