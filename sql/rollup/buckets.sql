-- Write the histograms of an hour.
-- Index: PRIMARY of stats_bucket. Locks: the rows.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}stats_bucket (grain, start, job_exec, entity_name, measure, bucket, n) VALUES {rows}
