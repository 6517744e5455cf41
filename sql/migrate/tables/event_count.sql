-- How many events were published, by slot and topic. Forwarders count; prune deletes.
CREATE TABLE IF NOT EXISTS {prefix}event_count (
  slot      DATETIME NOT NULL COMMENT 'UTC: in which the broker acknowledged, or refused',
  topic     VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  published INT UNSIGNED NOT NULL,
  set_aside INT UNSIGNED NOT NULL,
  PRIMARY KEY (slot, topic)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: how many events were published';
