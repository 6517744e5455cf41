-- Take what the forecast before this one said away.
-- Index: PRIMARY of forecast, both ranges. Locks: the lines, of which whoever has the duty alone writes.
DELETE line FROM {prefix}forecast line FORCE INDEX (PRIMARY) WHERE line.grain IN ('slot', 'day')
