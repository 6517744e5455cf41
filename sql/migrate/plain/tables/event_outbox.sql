-- Events that are to be published: from schedules that name a topic, from apps and from plain SQL. Forwarders delete what a broker has.
-- In the dialect plain seq is an AUTO_INCREMENT, which a row at its end uses up, and there are no CHECKs.
CREATE TABLE IF NOT EXISTS {prefix}event_outbox (
  shard        TINYINT UNSIGNED NOT NULL COMMENT 'of its key: 0 to 63',
  seq          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  id           VARCHAR(160) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'the same for every copy of the event',
  topic        VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  event_key    VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'events of one key are published in order',
  generated_at DATETIME(6) NOT NULL COMMENT 'UTC: when it was due',
  payload      MEDIUMBLOB NULL,
  inserted_at  DATETIME(6) NOT NULL COMMENT 'UTC',
  -- For forwarders, a shard from its beginning.
  PRIMARY KEY (shard, seq),
  -- For forwarders, who delete and set aside by it.
  UNIQUE KEY seq (seq)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: events to be published';
