-- The job_execs that workers have registered, with what they let their checks do. A worker writes those that it has when it starts, where they
-- have changed, and once an hour that it still has them: so two rows of one job_exec seen lately are two versions of a program at work. The
-- same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}exec_known (
  job_exec    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  fingerprint BINARY(8) NOT NULL COMMENT 'of form and guards',
  form        VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'func, batch, tx or tx_batch',
  guards      JSON NOT NULL COMMENT 'durations in milliseconds; defaults filled in',
  worker      VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'that was the last to say so',
  first_at    DATETIME(6) NOT NULL COMMENT 'UTC',
  seen_at     DATETIME(6) NOT NULL COMMENT 'UTC: when a worker said so last; once an hour while it works',
  PRIMARY KEY (job_exec, fingerprint),
  -- For prune.
  KEY seen_at (seen_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: which job_execs workers have';
