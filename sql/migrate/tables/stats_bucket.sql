-- How durations and counts are spread, by hour and by day of the ends: histograms of job_history, for percentiles over any span. Written with
-- stats. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}stats_bucket (
  grain       ENUM('hour', 'day') CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'as in stats',
  start       DATETIME NOT NULL COMMENT 'as in stats',
  job_exec    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'as in stats',
  entity_name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'as in stats',
  measure     ENUM('run', 'lateness', 'due_lateness', 'checks') CHARACTER SET ascii COLLATE ascii_bin NOT NULL
                COMMENT 'milliseconds of the last call as in stats; checks: check_count of what no app put an end to',
  bucket      SMALLINT UNSIGNED NOT NULL COMMENT '0 below 1, else 1 + FLOOR(LN(value) / LN(1.05))',
  n           BIGINT UNSIGNED NOT NULL COMMENT 'ends in it',
  PRIMARY KEY (grain, start, job_exec, entity_name, measure, bucket)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: how times are spread, by hour and day';
