-- Take what the forecast before this one said of slots and days away.
-- Index: PRIMARY of forecast_fit, both ranges. Locks: the rows, of which whoever has the duty alone writes.
DELETE line FROM {prefix}forecast_fit line FORCE INDEX (PRIMARY) WHERE line.grain IN ('slot', 'day')
