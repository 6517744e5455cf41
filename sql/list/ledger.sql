-- Buckets of the ledger, the latest slots first, a page at a time.
-- Index: PRIMARY of slot_run, backwards, at most the limit's entries. Locks: none.
-- {ends}: the columns of ends, {bounds}: conditions, {limit}: how many
SELECT slot, bucket, buckets, worker, run_by, takeovers, started_at, finished_at, allocated_until,
  COALESCE({lives allocated_until}, 0) AS held, moved, put_off, dropped, {ends}
FROM {prefix}slot_run FORCE INDEX (PRIMARY)
WHERE {bounds} ORDER BY slot DESC, bucket DESC LIMIT {limit}
