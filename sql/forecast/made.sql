-- When the forecast was made, how old it is, and of how much it was made.
-- One of a day that is none is 100 years old.
-- Index: PRIMARY of forecast_made, one entry. Locks: none.
SELECT made_at, worker, took_ms, slots_from, slots_before, entries_read, schedules, schedules_all,
  COALESCE(TIMESTAMPDIFF(MICROSECOND, made_at, UTC_TIMESTAMP(6)), 3155760000000000) AS age_us
FROM {prefix}forecast_made WHERE id = 1
