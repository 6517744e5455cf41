-- Jobs of steps. A job is a schedule, job/<name>, whose long runs take its steps one after another; its definition and that of steps
-- which several jobs share stand here as JSON. job_version keeps each version of a job, whole, with the shared steps as they were
-- then: a run keeps that which it began with. job_run_log and step_run_log say what runs did.
-- Locks and copies nothing: the tables are new.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS {prefix}job_definition (
  name       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'its schedule is job/<name>',
  version    BIGINT UNSIGNED NOT NULL COMMENT 'in job_version: rises with every change',
  definition MEDIUMTEXT  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'JSON, which names shared steps',
  created_at DATETIME(6) NOT NULL COMMENT 'UTC',
  updated_at DATETIME(6) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: jobs of steps';

CREATE TABLE IF NOT EXISTS {prefix}step_definition (
  name       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version    BIGINT UNSIGNED NOT NULL COMMENT 'rises with every change',
  definition MEDIUMTEXT  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'JSON',
  created_at DATETIME(6) NOT NULL COMMENT 'UTC',
  updated_at DATETIME(6) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: steps that jobs share';

CREATE TABLE IF NOT EXISTS {prefix}job_step (
  step VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'a shared one',
  job  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'that has it',
  PRIMARY KEY (step, job)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: which jobs have which shared steps';

CREATE TABLE IF NOT EXISTS {prefix}job_version (
  job        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version    BIGINT UNSIGNED NOT NULL,
  definition MEDIUMTEXT  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'JSON, with the shared steps as they were',
  created_at DATETIME(6) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (job, version)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: all versions of jobs';

CREATE TABLE IF NOT EXISTS {prefix}job_run_log (
  job          VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  occurrence   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'its unix second, behind m where a person asked for it: the tag of the check',
  job_key      BINARY(16)  NOT NULL COMMENT 'of the check: in long_run and job_history',
  version      BIGINT UNSIGNED NULL COMMENT 'of the job, in job_version; NULL where it did not start',
  scheduled_at DATETIME(6) NOT NULL COMMENT 'UTC: when it was due',
  started_at   DATETIME(6) NULL COMMENT 'UTC: for the first time',
  ended_at     DATETIME(6) NULL COMMENT 'UTC',
  agent        VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'that had it last',
  takeovers    INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'from agents that let it lapse',
  result       VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'as the outcome in job_history; NULL while it goes on',
  error        VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  PRIMARY KEY (job, occurrence),
  KEY scheduled_at (scheduled_at),
  KEY job_scheduled_at (job, scheduled_at),
  KEY ended_at (ended_at, scheduled_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: runs of jobs';

CREATE TABLE IF NOT EXISTS {prefix}step_run_log (
  job          VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  occurrence   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  seq          INT UNSIGNED NOT NULL COMMENT 'of the call in the run: 1, 2, 3 ...',
  position     INT UNSIGNED NOT NULL COMMENT 'of the step in the job: 1, 2, 3 ...',
  step         VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  job_exec     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  attempt      INT UNSIGNED NOT NULL COMMENT 'rises where it failed, and is tried again: 1, 2, 3 ...',
  scheduled_at DATETIME(6) NOT NULL COMMENT 'UTC: when it was to be called',
  started_at   DATETIME(6) NOT NULL COMMENT 'UTC',
  ended_at     DATETIME(6) NULL COMMENT 'UTC',
  agent        VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  result       VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'NULL while it goes on',
  error        VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  output       MEDIUMTEXT  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'the end of it',
  output_cut   BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'how many bytes before that were not kept',
  PRIMARY KEY (job, occurrence, seq),
  KEY started_at (started_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: calls of steps';
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 23);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 22;
DROP TABLE IF EXISTS {prefix}step_run_log;
DROP TABLE IF EXISTS {prefix}job_run_log;
DROP TABLE IF EXISTS {prefix}job_version;
DROP TABLE IF EXISTS {prefix}job_step;
DROP TABLE IF EXISTS {prefix}step_definition;
DROP TABLE IF EXISTS {prefix}job_definition;
