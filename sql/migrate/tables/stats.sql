-- What became of checks, by hour and by day of their ends, kept for long: sums of job_history. What an hour has is written as one, and done
-- again where ends come later. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}stats (
  grain           ENUM('hour', 'day') CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'hours are kept 90 days, days 5 years',
  start           DATETIME NOT NULL COMMENT 'UTC: of the hour or day in which they ended',
  job_exec        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT '(other) beyond 200 of an hour',
  entity_name     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT '(other) beyond 50 of a job_exec, and 500 of an hour',
  outcome         ENUM('done', 'cancelled', 'max_checks', 'past_return', 'beyond_horizon', 'failed', 'timed_out', 'crashed',
                    'expired', 'superseded', 'missed', 'too_soon', 'overlapped', 'quota')
                    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  ends            BIGINT UNSIGNED NOT NULL COMMENT 'a requeued check counts for each of its ends',
  calls           BIGINT UNSIGNED NOT NULL COMMENT 'of these checks: later times that they returned, errors in a row at the end, and the last call',
  errors          BIGINT UNSIGNED NOT NULL COMMENT 'errors in a row at the end',
  not_yet         BIGINT UNSIGNED NOT NULL COMMENT 'how often they said not yet: returned a later time',
  waited          BIGINT UNSIGNED NOT NULL COMMENT 'ends that came after such an answer, or with it',
  started         BIGINT UNSIGNED NOT NULL COMMENT 'ends with a last call; those alone have times',
  run_ms          BIGINT UNSIGNED NOT NULL COMMENT 'of all last calls',
  total_ms        BIGINT UNSIGNED NOT NULL COMMENT 'of all calls',
  lateness_ms     BIGINT UNSIGNED NOT NULL COMMENT 'of all last calls, against the slot',
  due_lateness_ms BIGINT UNSIGNED NOT NULL COMMENT 'of all last calls, against due_at; so with the wait for the slot',
  PRIMARY KEY (grain, start, job_exec, entity_name, outcome)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: what became of checks, by hour and day';
