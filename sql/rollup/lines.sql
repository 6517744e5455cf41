-- Write the lines of an hour.
-- Index: PRIMARY of stats. Locks: the rows.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}stats (grain, start, job_exec, entity_name, outcome, ends, calls, errors, not_yet, waited, started, run_ms, total_ms,
  lateness_ms, due_lateness_ms) VALUES {rows}
