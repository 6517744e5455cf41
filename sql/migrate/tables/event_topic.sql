-- The topics that cannot be published to, and why. Forwarders write it.
CREATE TABLE IF NOT EXISTS {prefix}event_topic (
  topic         VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  failing_since DATETIME(6) NOT NULL COMMENT 'UTC',
  failed_at     DATETIME(6) NOT NULL COMMENT 'UTC: last',
  event_id      VARCHAR(160) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'which was published last without success',
  reason        VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (topic)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: topics that cannot be published to';
