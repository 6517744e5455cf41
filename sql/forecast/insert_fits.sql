-- Whether slots and days end in time.
-- Index: PRIMARY of forecast_fit, one entry each. Locks: these.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}forecast_fit (grain, start, due, low, high, occurrences, how, concurrency, unknown,
  begins_at, last_start_at, ends_at, verdict, over_ms, job_exec, made_at) VALUES {rows}
