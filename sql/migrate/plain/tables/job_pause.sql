-- What is paused: a row for each job_exec, or for everything. Operators write it; workers read it with their look at a slot.
-- In the dialect plain without CHECKs. since goes by the session's time zone where an INSERT does not give it.
CREATE TABLE IF NOT EXISTS {prefix}job_pause (
  job_exec  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT '* is everything',
  since     DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  paused_by VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  reason    VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  PRIMARY KEY (job_exec)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: what is paused';
