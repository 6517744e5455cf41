-- What calls of steps in runs of jobs did, with the end of their output. Agents write it; prune deletes.
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
  output       MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'the end of it',
  output_cut   BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'how many bytes before that were not kept',
  PRIMARY KEY (job, occurrence, seq),
  -- For prune.
  KEY started_at (started_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: calls of steps';
