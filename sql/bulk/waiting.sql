-- Bulk runs that are under way, or wait for somebody to work them off.
-- Index: KEY (ended_at, started_at) of bulk_run, as many entries. Locks: none.
SELECT number FROM {prefix}bulk_run WHERE ended_at IS NULL AND started_at IS NOT NULL ORDER BY started_at LIMIT 100
