-- Until when schedules that were deleted have fired: one that is created again, after the clock was put back, repeats nothing. Whoever
-- deletes a schedule writes it, so that apps need not read the audit, on which a read could hold locks. Prune deletes from it.
CREATE TABLE IF NOT EXISTS {prefix}schedule_deleted (
  id          VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  fired_until DATETIME(6) NOT NULL COMMENT 'UTC: when it was deleted; later where the clock had been put back',
  PRIMARY KEY (id),
  -- For prune.
  KEY fired_until (fired_until),
  CONSTRAINT {prefix}schedule_deleted_named CHECK (LENGTH(id) > 0 AND fired_until >= TIMESTAMP'1000-01-01 00:00:00')
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: until when schedules that were deleted have fired';
