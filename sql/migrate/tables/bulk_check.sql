-- To which checks a bulk run was done, beside its one entry in the audit. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}bulk_check (
  number  BIGINT UNSIGNED NOT NULL COMMENT 'of the bulk run',
  job_key BINARY(16) NOT NULL COMMENT 'the check',
  PRIMARY KEY (number, job_key),
  -- For the audit of one check.
  KEY job_key (job_key)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: the checks of bulk runs';
