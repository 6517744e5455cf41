-- How did checks end, by the day on which they ended?
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_outcomes AS
SELECT d.day, h.job_exec, h.outcome, COUNT(*) AS jobs
FROM {days} d
  STRAIGHT_JOIN {prefix}job_history h ON h.ended_at >= TIMESTAMP(d.day) AND h.ended_at < TIMESTAMP(d.day) + INTERVAL 1 DAY
GROUP BY d.day, h.job_exec, h.outcome;
