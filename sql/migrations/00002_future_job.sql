-- What is pending, clustered by slot: a slot run reads one contiguous range of the primary key.
--
-- entity_name, entity_key, job_exec and due_at (UTC) are all that a plain INSERT must give; the defaults fill in
-- job_key, first_check_at and next_check_at. Columns stand in the order that their defaults need.
-- The check keeps out zero dates too, which a lax sql_mode makes of what is no date, and which no sweep would find.
-- The round-up is integer arithmetic in microseconds: with / and CEILING, MySQL loses the microsecond and is early.
-- Locks and copies nothing: the table is new.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS {prefix}future_job (
  entity_name    VARCHAR(64)  CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL,
  entity_key     VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  job_exec       VARCHAR(64)  CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL,
  tag            VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  due_at         DATETIME(6)  NOT NULL COMMENT 'UTC: the time asked for',
  job_key        BINARY(16)   NOT NULL DEFAULT (CONCAT(
                   SUBSTRING(UNHEX(SHA2(CONCAT(CAST(entity_name AS BINARY), UNHEX('00'), CAST(entity_key AS BINARY)), 256)), 1, 12),
                   SUBSTRING(UNHEX(SHA2(CONCAT(CAST(job_exec AS BINARY), UNHEX('00'), CAST(tag AS BINARY)), 256)), 1, 4))),
  first_check_at DATETIME     NOT NULL DEFAULT (TIMESTAMP'1970-01-01 00:00:00' + INTERVAL
                   ((TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', due_at) + {micros} - 1) DIV {micros}) * {seconds} SECOND)
                   COMMENT 'UTC: the first slot',
  next_check_at  DATETIME     NOT NULL DEFAULT (first_check_at) COMMENT 'UTC: the slot it waits for',
  check_count    INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'times that its job_exec returned',
  error_count    INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'errors in a row',
  put_off_count  INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'times in a row it was moved on without a call',
  last_error     VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  total_ms       BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'run time of all its checks',
  payload        JSON         NULL,
  revision       BIGINT UNSIGNED NOT NULL DEFAULT (UUID_SHORT()) COMMENT 'new with every change',
  inserted_at    DATETIME(6)  NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
  PRIMARY KEY (next_check_at, job_key),
  UNIQUE KEY job_key (job_key),
  CONSTRAINT {prefix}future_job_on_grid CHECK (next_check_at >= TIMESTAMP'1000-01-01 00:00:00'
    AND TIMESTAMPDIFF(SECOND, TIMESTAMP'1970-01-01 00:00:00', next_check_at) % {seconds} = 0)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: pending checks';

-- +goose Down
DROP TABLE IF EXISTS {prefix}future_job;
