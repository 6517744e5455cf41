-- Long runs, as in the full dialect, but for the CHECK.
-- Locks schedule for a moment, once the transactions that have used it are over. Copies nothing.

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
  KEY ended_at (ended_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: long runs';
ALTER TABLE {prefix}schedule
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ is_long BOOLEAN NOT NULL DEFAULT 0 COMMENT 'its runs may outlive their slots',
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ overlap ENUM('allow', 'forbid', 'queue') CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'NULL for the default',
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ tolerance INT UNSIGNED NULL COMMENT 'seconds by which a run may come too soon; NULL for the default',
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ quota INT UNSIGNED NULL COMMENT 'seconds that a run may take; 0 for no bound, NULL for the default',
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ last_started_at DATETIME(6) NULL COMMENT 'UTC: its last long run';
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 18);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 17;
ALTER TABLE {prefix}schedule DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ is_long, DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ overlap, DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ tolerance, DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ quota, DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ last_started_at;
DROP TABLE IF EXISTS {prefix}long_run;
