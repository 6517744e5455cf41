-- The events that were published, where the configuration asks for them to be kept. Forwarders write it; old ones leave by DROP PARTITION.
CREATE TABLE IF NOT EXISTS {prefix}event_published (
  published_at DATETIME(6) NOT NULL COMMENT 'UTC: when it was noted that the broker had acknowledged it',
  seq          BIGINT UNSIGNED NOT NULL,
  id           VARCHAR(160) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  topic        VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  event_key    VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  generated_at DATETIME(6) NOT NULL COMMENT 'UTC',
  payload      MEDIUMBLOB NULL,
  inserted_at  DATETIME(6) NOT NULL COMMENT 'UTC',
  -- For prune, by partitions.
  PRIMARY KEY (published_at, seq)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: published events'
PARTITION BY RANGE COLUMNS (published_at) (
  PARTITION p_later VALUES LESS THAN (MAXVALUE)
);
