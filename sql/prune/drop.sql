-- Drop a partition of job_history or event_published with all that it holds.
-- Locks: as split.sql.
-- {table}, {partition}: their names
ALTER TABLE {prefix}{table} DROP PARTITION {partition}
