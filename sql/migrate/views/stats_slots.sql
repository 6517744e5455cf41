-- How many slots of a day were served, how many of them by a sweep or roll-forward alone, and how many were not, at the resolution that there is now?
-- A bucket that nobody has claimed is not served. The ledger is kept as long as prune keeps it. Of today those count that have begun.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}stats_slots AS
SELECT served.day, COUNT(*) AS served, CAST(SUM(served.late) AS SIGNED) AS by_sweep_alone,
       GREATEST(0, LEAST(86400, TIMESTAMPDIFF(SECOND, served.day, UTC_TIMESTAMP()) + config.resolution_s) DIV config.resolution_s - COUNT(*)) AS not_served
FROM (SELECT DATE(slot) AS day, MIN(IF(run_by IN ('sweep', 'roll-forward'), 1, 0)) AS late FROM {prefix}slot_run
  WHERE started_at IS NOT NULL GROUP BY slot) served
CROSS JOIN {prefix}slot_config config
GROUP BY served.day, config.resolution_s;
