-- Events that are to be published: from schedules that name a topic, from apps and from plain SQL. Forwarders delete what a broker has.
-- The events of one key are published in the order of seq: the second of the INSERT since 2020 and, in its last 33 bits, a number that the
-- server counts up. So what stands there already decides nothing, as the greatest value of an AUTO_INCREMENT would, which the dialect plain has.
CREATE TABLE IF NOT EXISTS {prefix}event_outbox (
  shard        TINYINT UNSIGNED NOT NULL COMMENT 'of its key: 0 to 63',
  seq          BIGINT UNSIGNED NOT NULL DEFAULT (((UNIX_TIMESTAMP() - 1577836800) << 33) | (UUID_SHORT() & 8589934591)) COMMENT 'rises with time', -- only full
  seq          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, -- only plain
  id           VARCHAR(160) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'the same for every copy of the event',
  topic        VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  event_key    VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'events of one key are published in order',
  generated_at DATETIME(6) NOT NULL COMMENT 'UTC: when it was due',
  payload      MEDIUMBLOB NULL,
  inserted_at  DATETIME(6) NOT NULL COMMENT 'UTC',
  -- For forwarders, a shard from its beginning.
  PRIMARY KEY (shard, seq),
  -- For forwarders, who delete and set aside by it.
  UNIQUE KEY seq (seq),
  CONSTRAINT {prefix}event_outbox_in_shard CHECK (shard < 64),
  CONSTRAINT {prefix}event_outbox_payload_size CHECK (LENGTH(payload) <= 1048576),
  CONSTRAINT {prefix}event_outbox_dated CHECK (generated_at >= TIMESTAMP'1000-01-01 00:00:00'
    AND inserted_at >= TIMESTAMP'1000-01-01 00:00:00'),
  CONSTRAINT {prefix}event_outbox_named CHECK (id NOT REGEXP '^$|^ | $|[[:cntrl:]]' AND event_key NOT REGEXP '^$|^ | $|[[:cntrl:]]'
    AND topic NOT REGEXP '^$|[^A-Za-z0-9_./-]'),
  CONSTRAINT {prefix}event_outbox_seen CHECK (LENGTH(CONCAT(id, event_key)) = CHAR_LENGTH(CONCAT(id, event_key))
    OR CONCAT(id, event_key) NOT REGEXP REPLACE('{unseen}', '~', CONVERT(UNHEX('5C') USING utf8mb4)))
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: events to be published';
