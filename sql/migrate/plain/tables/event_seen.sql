-- The events that consumers with this database have worked on. They write it; prune deletes.
-- In the dialect plain without CHECKs.
CREATE TABLE IF NOT EXISTS {prefix}event_seen (
  consumer VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  id       VARCHAR(160) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'of an event that it has worked on',
  seen_at  DATETIME(6) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (consumer, id),
  -- For prune.
  KEY seen_at (seen_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: events that consumers have worked on';
