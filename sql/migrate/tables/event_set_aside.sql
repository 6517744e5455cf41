-- The events that a broker refused for good. Forwarders write it; people send them again, or delete them.
CREATE TABLE IF NOT EXISTS {prefix}event_set_aside (
  seq          BIGINT UNSIGNED NOT NULL COMMENT 'its number here, which is not that of event_outbox', -- only full
  seq          BIGINT UNSIGNED NOT NULL COMMENT 'that it had in event_outbox', -- only plain
  shard        TINYINT UNSIGNED NOT NULL,
  id           VARCHAR(160) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  topic        VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  event_key    VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  generated_at DATETIME(6) NOT NULL COMMENT 'UTC',
  payload      MEDIUMBLOB NULL,
  inserted_at  DATETIME(6) NOT NULL COMMENT 'UTC',
  refused_at   DATETIME(6) NOT NULL COMMENT 'UTC',
  reason       VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (seq)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: events that a broker refused';
