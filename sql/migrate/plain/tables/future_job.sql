-- What is pending, clustered by slot: a slot run reads one range of the primary key. Apps insert and cancel, workers move and end.
-- In the dialect plain no default is an expression and there are no CHECKs: an INSERT gives job_key, first_check_at, next_check_at and revision
-- itself, as the client and the command do, and nothing holds it to the grid. inserted_at goes by the session's time zone. TiDB alone
-- reads the comment in the primary key.
CREATE TABLE IF NOT EXISTS {prefix}future_job (
  entity_name    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  entity_key     VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  job_exec       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  tag            VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  due_at         DATETIME(6) NOT NULL COMMENT 'UTC: the time asked for',
  job_key        BINARY(16) NOT NULL,
  first_check_at DATETIME NOT NULL COMMENT 'UTC: the first slot',
  next_check_at  DATETIME NOT NULL COMMENT 'UTC: the slot it waits for',
  check_count    INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'times that its job_exec returned',
  error_count    INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'errors in a row',
  put_off_count  INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'times in a row it was moved on without a call',
  last_error     VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  total_ms       BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'run time of all its checks',
  payload        JSON NULL,
  revision       BIGINT UNSIGNED NOT NULL COMMENT 'new with every change',
  inserted_at    DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  expires_at     DATETIME(6) NULL COMMENT 'UTC: not called from then on; NULL for never',
  -- For slot runs, sweeps and lists, in the order of slots.
  PRIMARY KEY (next_check_at, job_key) /*T![clustered_index] CLUSTERED */,
  -- For whoever looks for the checks of an entity: insert, cancel, reschedule, get.
  UNIQUE KEY job_key (job_key)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: pending checks';
