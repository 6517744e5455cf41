-- How old each turn of the forecast is, of which the youngest counts; 100 years, where nobody knows.
-- Index: PRIMARY of forecast_fit, a range for each turn: all slots that are told. Locks: none.
SELECT grain, MAX(made_at) AS made_at, COALESCE(TIMESTAMPDIFF(MICROSECOND, MAX(made_at), UTC_TIMESTAMP(6)), 3155760000000000) AS age_us
FROM {prefix}forecast_fit FORCE INDEX (PRIMARY) WHERE grain IN ('slot', 'slot1', 'slot2', 'slot3', 'slot4') GROUP BY grain
