-- Write the reasons of an hour.
-- Index: PRIMARY of stats_reason. Locks: the rows.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}stats_reason (grain, start, job_exec, reason, ends) VALUES {rows}
