-- CALL {prefix}stats_percentiles(from, before, job_exec) says how long calls took and how late they were in a time, within 5 %: from the sums of whole
-- days, and of hours at its edges, to which it is rounded. NULL in place of a job_exec is all. Hours are kept 90 days: before, give whole days.
DROP PROCEDURE IF EXISTS {prefix}stats_percentiles;
-- +goose StatementBegin
CREATE PROCEDURE {prefix}stats_percentiles(
  IN p_from DATETIME,
  IN p_before DATETIME,
  IN p_job_exec VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin)
  READS SQL DATA
  SQL SECURITY INVOKER
  COMMENT 'prescient: percentiles of run time and lateness over any time'
BEGIN
  DECLARE v_first, v_last DATETIME;
  SET p_from = DATE(p_from) + INTERVAL HOUR(p_from) HOUR;
  SET p_before = DATE(p_before) + INTERVAL HOUR(p_before) + IF(MINUTE(p_before) = 0 AND SECOND(p_before) = 0, 0, 1) HOUR;
  SET v_first = DATE(p_from) + INTERVAL IF(TIME(p_from) = '00:00:00', 0, 1) DAY;
  SET v_last = LEAST(DATE(p_before), COALESCE((SELECT MAX(start) FROM {prefix}stats WHERE grain = 'day' AND start < UTC_DATE()) + INTERVAL 1 DAY, p_from));
  IF v_last <= v_first THEN
    SET v_first = p_before, v_last = p_before;
  END IF;
  SELECT job_exec, measure, CAST(MAX(among) AS SIGNED) AS ends,
    MIN(CASE WHEN up_to * 100 >= among * 50 THEN ms END) AS p50_ms,
    MIN(CASE WHEN up_to * 100 >= among * 95 THEN ms END) AS p95_ms,
    MIN(CASE WHEN up_to * 100 >= among * 99 THEN ms END) AS p99_ms,
    MAX(ms) AS longest_ms
  FROM (SELECT job_exec, measure, CAST(IF(bucket = 0, 0, GREATEST(CEIL(POW(1.05, bucket)) - 1, 1)) AS SIGNED) AS ms,
      SUM(n) OVER (PARTITION BY job_exec, measure ORDER BY bucket) AS up_to, SUM(n) OVER (PARTITION BY job_exec, measure) AS among
    FROM (SELECT SQL_BIG_RESULT job_exec, measure, bucket, SUM(n) AS n FROM {prefix}stats_bucket FORCE INDEX (PRIMARY)
      WHERE (grain = 'day' AND start >= v_first AND start < v_last OR grain = 'hour' AND start >= p_from AND start < LEAST(v_first, p_before)
          OR grain = 'hour' AND start >= v_last AND start < p_before)
        AND measure <> 'checks' AND (p_job_exec IS NULL OR job_exec = p_job_exec)
      GROUP BY job_exec, measure, bucket) counted) ranked
  GROUP BY job_exec, measure ORDER BY job_exec, CAST(measure AS CHAR);
END
-- +goose StatementEnd
