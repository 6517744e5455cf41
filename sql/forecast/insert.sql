-- What slots and days are to do.
-- Index: PRIMARY of forecast, one entry each. Locks: these.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}forecast (grain, start, job_exec, due, low, high, repeats, occurrences, how) VALUES {rows}
