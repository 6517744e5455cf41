-- All versions of jobs, each whole, with the shared steps as they were: a run keeps that which it began with. Written with the definition.
CREATE TABLE IF NOT EXISTS {prefix}job_version (
  job        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version    BIGINT UNSIGNED NOT NULL,
  definition MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'JSON, with the shared steps as they were',
  created_at DATETIME(6) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (job, version),
  CONSTRAINT {prefix}job_version_named CHECK (LENGTH(job) > 0 AND job NOT REGEXP '[^A-Za-z0-9_.-]' AND version > 0),
  CONSTRAINT {prefix}job_version_bounded CHECK (definition LIKE '{%}' AND LENGTH(definition) <= 8388608),
  CONSTRAINT {prefix}job_version_dated CHECK (created_at >= TIMESTAMP'1000-01-01 00:00:00')
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: all versions of jobs';
