-- The events that consumers with this database have worked on. They write it; prune deletes.
CREATE TABLE IF NOT EXISTS {prefix}event_seen (
  consumer VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  id       VARCHAR(160) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'of an event that it has worked on',
  seen_at  DATETIME(6) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (consumer, id),
  -- For prune.
  KEY seen_at (seen_at),
  CONSTRAINT {prefix}event_seen_dated CHECK (seen_at >= TIMESTAMP'1000-01-01 00:00:00'),
  CONSTRAINT {prefix}event_seen_named CHECK (consumer NOT REGEXP '^$|^ | $|[[:cntrl:]]' AND id NOT REGEXP '^$|^ | $|[[:cntrl:]]')
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: events that consumers have worked on';
