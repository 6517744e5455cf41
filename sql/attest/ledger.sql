-- What the ledger has of slots, one after the other: their buckets, leases and books.
-- Index: PRIMARY of slot_run, a range. Locks: none.
-- 1: from (inclusive), 2: before, 3: limit
SELECT run.slot AS slot, COUNT(*) AS there, MAX(run.buckets) AS buckets, SUM(run.finished_at IS NULL) AS unfinished,
       COALESCE(SUM({lives run.allocated_until}), 0) AS held, SUM(run.finished_at IS NULL AND run.allocated_until IS NOT NULL) AS taken,
       MAX(run.started_at) AS started_at, MAX(run.finished_at) AS finished_at,
       SUM(run.run_by = 'run') AS by_run, SUM(run.run_by = 'work') AS by_work, SUM(run.run_by = 'sweep') AS by_sweep,
       SUM(run.run_by = 'roll-forward') AS by_roll, MIN(run.worker) AS first_worker, MAX(run.worker) AS last_worker,
       SUM(run.takeovers) AS takeovers, SUM(run.moved) AS moved, SUM(run.put_off) AS put_off, SUM(run.dropped) AS dropped,
       SUM(run.done + run.max_checks + run.past_return + run.beyond_horizon + run.failed + run.timed_out + run.crashed
         + run.expired + run.missed + run.too_soon + run.overlapped + run.quota) AS ended
FROM {prefix}slot_run run FORCE INDEX (PRIMARY)
WHERE run.slot >= ? AND run.slot < ? GROUP BY run.slot ORDER BY run.slot LIMIT ?
