-- What slots and days to come are to do, by job_exec: what is pending, and the occurrences of schedules. Checks that apps are to insert yet are
-- not in it. Whoever has the duty writes all of it anew every minute. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}forecast (
  grain       ENUM('slot', 'day') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  start       DATETIME NOT NULL COMMENT 'UTC: the slot, or where the day begins; of the slot that is now, with all that is overdue',
  job_exec    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT '(other) beyond 20 of a slot or day',
  due         BIGINT UNSIGNED NOT NULL COMMENT 'pending checks',
  low         BIGINT UNSIGNED NOT NULL COMMENT 'two standard errors below due; due where it is exact, or nobody knows its error',
  high        BIGINT UNSIGNED NOT NULL COMMENT 'two standard errors above',
  repeats     BIGINT UNSIGNED NOT NULL COMMENT 'of these, how many are to come back: moves and retries, at the rate of the last day',
  occurrences BIGINT UNSIGNED NOT NULL COMMENT 'of schedules, that are not pending yet',
  how         ENUM('exact', 'sample', 'optimiser', 'least') CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'due is counted; a share of the keys was; by EXPLAIN, divided as a sample; there are at least so many',
  PRIMARY KEY (grain, start, job_exec)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: what is to come, by job_exec';
