-- Drop a partition with all that it holds.
-- Locks: as split.sql.
-- {partition}: its name
ALTER TABLE {prefix}job_history DROP PARTITION {partition}
