-- What runs of jobs did. Agents write it; prune deletes.
CREATE TABLE IF NOT EXISTS {prefix}job_run_log (
  job          VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  occurrence   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'its unix second, behind m where a person asked for it: the tag of the check',
  job_key      BINARY(16) NOT NULL COMMENT 'of the check: in long_run and job_history',
  version      BIGINT UNSIGNED NULL COMMENT 'of the job, in job_version; NULL where it did not start',
  scheduled_at DATETIME(6) NOT NULL COMMENT 'UTC: when it was due',
  started_at   DATETIME(6) NULL COMMENT 'UTC: for the first time',
  ended_at     DATETIME(6) NULL COMMENT 'UTC',
  agent        VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'that had it last',
  takeovers    INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'from agents that let it lapse',
  result       VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'as the outcome in job_history; NULL while it goes on',
  error        VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  PRIMARY KEY (job, occurrence),
  -- For lists of all runs, and prune.
  KEY scheduled_at (scheduled_at),
  -- For lists of the runs of a job.
  KEY job_scheduled_at (job, scheduled_at),
  -- For lists of the runs that go on, or ended.
  KEY ended_at (ended_at, scheduled_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: runs of jobs';
