-- Long runs: checks that outlive their slot, whose rows in future_job wait while an agent has them; and what schedules say of
-- theirs. A row is that of one check; the one of the last run of a schedule stays until the next starts, or prune takes it.
-- Locks schedule for a moment, once the transactions that have used it are over. Copies nothing: the columns come last, which
-- both servers add by ALGORITHM = INSTANT, or not at all.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS {prefix}long_run (
  job_key         BINARY(16)   NOT NULL COMMENT 'of the check: in future_job, and in job_history once it ended',
  schedule_id     VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'NULL for the check of an app',
  occurrence      VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'its unix second: the tag of the check',
  agent           VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'the worker that has it, or had it last',
  token           BIGINT UNSIGNED NOT NULL COMMENT 'fencing token: rises with every start',
  allocated_until DATETIME(6)  NULL COMMENT 'UTC: until when it is the agent''s; NULL while it waits, and once it ended',
  slot            DATETIME     NOT NULL COMMENT 'UTC: in which it started last',
  due_at          DATETIME(6)  NOT NULL COMMENT 'UTC: with the next two, which check of that key it is',
  inserted_at     DATETIME(6)  NOT NULL,
  check_count     INT UNSIGNED NOT NULL,
  started_at      DATETIME(6)  NULL COMMENT 'UTC: for the first time; NULL while it waits for the one before it',
  called_at       DATETIME(6)  NULL COMMENT 'UTC: for the last time',
  takeovers       INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'from agents that let it lapse',
  checkpoint      MEDIUMBLOB   NULL COMMENT 'where the next call goes on',
  ended_at        DATETIME(6)  NULL,
  outcome         ENUM('done', 'cancelled', 'max_checks', 'past_return', 'beyond_horizon', 'failed', 'timed_out', 'crashed', 'expired', 'superseded', 'missed', 'too_soon', 'overlapped', 'quota')
                  CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (job_key),
  KEY ended_at (ended_at),
  CONSTRAINT {prefix}long_run_checkpoint_size CHECK (LENGTH(checkpoint) <= 65536)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: long runs';
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}schedule' AND column_name = 'is_long'),
  'DO 0', 'ALTER TABLE {prefix}schedule
     ADD COLUMN is_long BOOLEAN NOT NULL DEFAULT 0 COMMENT ''its runs may outlive their slots'',
     ADD COLUMN overlap ENUM(''allow'', ''forbid'', ''queue'') CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT ''NULL for the default'',
     ADD COLUMN tolerance INT UNSIGNED NULL COMMENT ''seconds by which a run may come too soon; NULL for the default'',
     ADD COLUMN quota INT UNSIGNED NULL COMMENT ''seconds that a run may take; 0 for no bound, NULL for the default'',
     ADD COLUMN last_started_at DATETIME(6) NULL COMMENT ''UTC: its last long run'', ALGORITHM = INSTANT');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 18);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 17;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}schedule' AND column_name = 'is_long'),
  'ALTER TABLE {prefix}schedule DROP COLUMN is_long, DROP COLUMN overlap, DROP COLUMN tolerance, DROP COLUMN quota, DROP COLUMN last_started_at', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
DROP TABLE IF EXISTS {prefix}long_run;
