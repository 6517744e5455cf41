-- The forwarders that are alive, and share the shards. Each renews its row.
CREATE TABLE IF NOT EXISTS {prefix}event_forwarder (
  name       VARCHAR(96) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  seen_until DATETIME(6) NOT NULL COMMENT 'UTC: until when it counts as alive',
  PRIMARY KEY (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: forwarders, which share the shards';
