-- What the ledger has of slots: when the last part of each began, and how many parts it has and how many are not finished.
-- Index: PRIMARY of slot_run, a range. Locks: none.
-- 1: from (inclusive), 2: before
SELECT slot, MAX(started_at) AS started_at, COUNT(*) AS there, MAX(buckets) AS buckets,
  CAST(SUM(finished_at IS NULL) AS SIGNED) AS unfinished
FROM {prefix}slot_run FORCE INDEX (PRIMARY) WHERE slot >= ? AND slot < ? GROUP BY slot ORDER BY slot
