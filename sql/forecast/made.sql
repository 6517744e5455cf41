-- Of how much the forecast was made.
-- Index: PRIMARY of forecast_made, one entry. Locks: none.
SELECT worker, took_ms, slots_from, slots_before, entries_read, schedules, schedules_all FROM {prefix}forecast_made WHERE id = 1
