-- What is paused: a row for each job_exec, or for everything. Operators write it; workers read it with their look at a slot.
CREATE TABLE IF NOT EXISTS {prefix}job_pause (
  job_exec  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT '* is everything',
  since     DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)), -- only full
  since     DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), -- only plain
  paused_by VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  reason    VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  PRIMARY KEY (job_exec),
  CONSTRAINT {prefix}job_pause_named CHECK (job_exec IN ('*', '*events') OR LENGTH(job_exec) > 0 AND job_exec NOT REGEXP '[^A-Za-z0-9_.-]'),
  CONSTRAINT {prefix}job_pause_dated CHECK (since >= TIMESTAMP'1000-01-01 00:00:00')
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: what is paused';
