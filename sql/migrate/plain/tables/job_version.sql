-- All versions of jobs, each whole, with the shared steps as they were: a run keeps that which it began with. Written with the definition.
-- In the dialect plain without CHECKs.
CREATE TABLE IF NOT EXISTS {prefix}job_version (
  job        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version    BIGINT UNSIGNED NOT NULL,
  definition MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'JSON, with the shared steps as they were',
  created_at DATETIME(6) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (job, version)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: all versions of jobs';
