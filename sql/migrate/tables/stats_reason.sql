-- Why checks ended otherwise than as done, by hour and by day of the ends. Written with stats. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}stats_reason (
  grain    ENUM('hour', 'day') CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'as in stats',
  start    DATETIME NOT NULL COMMENT 'as in stats',
  job_exec VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'as in stats',
  reason   VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL
             COMMENT 'the first line of the error, … in the place of numbers, ids and quotes; (other) beyond 100 of an hour',
  ends     BIGINT UNSIGNED NOT NULL COMMENT 'that have it',
  PRIMARY KEY (grain, start, job_exec, reason)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: why checks were not settled, by hour and day';
