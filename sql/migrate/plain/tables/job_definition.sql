-- Jobs of steps, as JSON. A job is a schedule, job/<name>, whose long runs take its steps one after another. People who define jobs write it.
-- In the dialect plain without CHECKs.
CREATE TABLE IF NOT EXISTS {prefix}job_definition (
  name       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'its schedule is job/<name>',
  version    BIGINT UNSIGNED NOT NULL COMMENT 'in job_version: rises with every change',
  definition MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'JSON, which names shared steps',
  created_at DATETIME(6) NOT NULL COMMENT 'UTC',
  updated_at DATETIME(6) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: jobs of steps';
