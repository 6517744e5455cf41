-- What is done to all checks that a filter matches: a row for each preview, with the deed that it became. Operators write it. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}bulk_run (
  number          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'names it',
  deed            VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'cancel, reschedule, retry, requeue or pause',
  filter          VARCHAR(8000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'JSON: which checks',
  due_at          DATETIME(6) NULL COMMENT 'UTC: when they are to be due; NULL for when the deed begins',
  cutoff          DATETIME(6) NOT NULL COMMENT 'UTC: of the preview; later checks are left alone',
  person          VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'who asked for it',
  reason          VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'why',
  host            VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'from where',
  matched         BIGINT UNSIGNED NOT NULL COMMENT 'how many matched at the preview',
  is_exact        TINYINT NOT NULL COMMENT '0 where matched is an estimate',
  token           BINARY(32) NOT NULL COMMENT 'SHA-256 of what begins the deed, once',
  token_until     DATETIME(6) NOT NULL COMMENT 'UTC: until when',
  started_at      DATETIME(6) NULL COMMENT 'UTC: when the deed was begun; NULL for a preview',
  stopped_at      DATETIME(6) NULL COMMENT 'UTC: when somebody stopped it',
  ended_at        DATETIME(6) NULL COMMENT 'UTC: when it was done, stopped, or given up',
  pass            INT UNSIGNED NOT NULL DEFAULT 1 COMMENT 'how often all has been looked at, this time included',
  reached         VARCHAR(160) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '' COMMENT 'the cursor behind which it goes on',
  done            BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'checks to which it was done',
  left_out        BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'in this pass: checks that others had changed or locked',
  refused         BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'ends that were not requeued: pending again, ended again later, or not valid',
  error           VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'why it was given up',
  PRIMARY KEY (number),
  -- For those under way, and for prune.
  KEY ended_at (ended_at, started_at),
  CONSTRAINT {prefix}bulk_run_deed CHECK (deed IN ('cancel', 'reschedule', 'retry', 'requeue', 'pause'))
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: what was done to all checks that a filter matched';
