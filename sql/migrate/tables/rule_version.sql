-- What rules say, all versions, each whole. A version is written once, with the rule, and never changed: a pending check names the version that it was
-- made or moved by. Delays are in seconds. The same on each shard.
CREATE TABLE IF NOT EXISTS {prefix}rule_version (
  rule          VARCHAR(59) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version       INT UNSIGNED NOT NULL,
  created_at    DATETIME(6) NOT NULL COMMENT 'UTC',
  state         ENUM('on', 'off', 'deleted') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  delay         INT UNSIGNED NOT NULL COMMENT 'seconds from the occasion to the check',
  spread        INT UNSIGNED NOT NULL COMMENT 'seconds: somewhere in so much more time, always at the same place',
  expires_after INT UNSIGNED NULL COMMENT 'seconds after which the check is of no use; NULL for never',
  on_pending    ENUM('keep', 'replace', 'earlier', 'later') CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'what a further occasion does to a check that is pending',
  ends          VARCHAR(1000) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'the occasions that end the check, with commas between',
  payload       JSON NULL COMMENT 'an object, into which the data of an occasion are merged',
  max_checks    INT NULL COMMENT 'guard; NULL for that of the job_exec, -1 for none',
  max_errors    INT NULL COMMENT 'guard; NULL for that of the job_exec, -1 for none',
  PRIMARY KEY (rule, version),
  CONSTRAINT {prefix}rule_version_named CHECK (LENGTH(rule) > 0 AND rule NOT REGEXP '[^A-Za-z0-9_.-]' AND version > 0
    AND ends NOT REGEXP '[^A-Za-z0-9_.,-]|^,|,$|,,' AND LENGTH(state) > 0 AND LENGTH(on_pending) > 0),
  CONSTRAINT {prefix}rule_version_bounded CHECK (delay <= 316224000 AND spread <= 316224000 AND delay + spread <= 316224000
    AND COALESCE(expires_after, 1) BETWEEN 1 AND 316224000 AND COALESCE(max_checks, 1) BETWEEN -1 AND 1000000 AND COALESCE(max_checks, 1) <> 0
    AND COALESCE(max_errors, 1) BETWEEN -1 AND 1000000 AND COALESCE(max_errors, 1) <> 0),
  CONSTRAINT {prefix}rule_version_payload CHECK (payload IS NULL OR (JSON_TYPE(payload) = 'OBJECT' AND LENGTH(payload) <= 65536) IS TRUE),
  CONSTRAINT {prefix}rule_version_dated CHECK (created_at >= TIMESTAMP'1000-01-01 00:00:00')
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: all versions of rules';
