-- What ended: one row for each end, from whoever ended it. The key makes one end of one row unique, and keeps inserts near the end of the table.
-- Partitioned by ended_at, so that old ends leave by DROP PARTITION; prune makes the partitions of the weeks to come.
-- In the dialect plain without CHECKs.
CREATE TABLE IF NOT EXISTS {prefix}job_history (
  entity_name    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  entity_key     VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  job_exec       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  tag            VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  due_at         DATETIME(6) NOT NULL,
  job_key        BINARY(16) NOT NULL,
  first_check_at DATETIME NOT NULL,
  next_check_at  DATETIME NOT NULL COMMENT 'UTC: the slot it waited for when it ended; the same as slot',
  check_count    INT UNSIGNED NOT NULL,
  error_count    INT UNSIGNED NOT NULL,
  put_off_count  INT UNSIGNED NOT NULL,
  last_error     VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'the error before its last check',
  total_ms       BIGINT UNSIGNED NOT NULL,
  payload        JSON NULL,
  revision       BIGINT UNSIGNED NOT NULL,
  inserted_at    DATETIME(6) NOT NULL,
  slot           DATETIME NOT NULL,
  outcome        ENUM('done', 'cancelled', 'max_checks', 'past_return', 'beyond_horizon', 'failed', 'timed_out', 'crashed',
                    'expired', 'superseded', 'missed', 'too_soon', 'overlapped', 'quota')
                  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  error          VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'why, where the outcome is not done',
  started_at     DATETIME(6) NULL COMMENT 'UTC: when its last check started; NULL where none ran',
  ended_at       DATETIME(6) NOT NULL,
  run_ms         INT UNSIGNED NOT NULL COMMENT 'run time of its last check',
  lateness_ms    BIGINT NULL COMMENT 'started_at against slot',
  worker         VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  expires_at     DATETIME(6) NULL,
  -- For lists, prune and the views by day.
  PRIMARY KEY (ended_at, job_key, revision),
  -- For "what became of this entity", in each partition.
  KEY job_key (job_key, ended_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: ended checks'
PARTITION BY RANGE COLUMNS (ended_at) (
  PARTITION p_later VALUES LESS THAN (MAXVALUE)
);
