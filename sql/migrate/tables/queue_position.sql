-- How far change queues are: a row for each, which outlives its check and the run of it. Their job_exec writes it; nothing deletes it.
CREATE TABLE IF NOT EXISTS {prefix}queue_position (
  name       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'of the queue: its job_exec',
  version    BIGINT UNSIGNED NOT NULL COMMENT 'rises with every batch: who saves proves that it knows the last one',
  position   MEDIUMBLOB NOT NULL COMMENT 'JSON: how far it is, and which ids are missing',
  passed     MEDIUMBLOB NOT NULL COMMENT 'the ids that were passed over, packed',
  updated_at DATETIME(6) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: how far change queues are';
