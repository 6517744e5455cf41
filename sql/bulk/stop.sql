-- Have a bulk run stop after its present step, or a preview not begin.
-- Index: PRIMARY of bulk_run, one entry. Locks: the row.
-- 1: number
UPDATE {prefix}bulk_run FORCE INDEX (PRIMARY) SET stopped_at = UTC_TIMESTAMP(6) WHERE number = ? AND ended_at IS NULL AND stopped_at IS NULL
