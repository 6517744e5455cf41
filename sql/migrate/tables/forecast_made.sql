-- When the forecast was made, and of how much: one row, which whoever has the duty writes with the rest. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}forecast_made (
  id            TINYINT UNSIGNED NOT NULL DEFAULT 1,
  made_at       DATETIME(6) NOT NULL COMMENT 'UTC: when its reading began',
  worker        VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'who made it',
  took_ms       BIGINT UNSIGNED NOT NULL COMMENT 'from the first read to the last',
  slots_from    DATETIME NOT NULL COMMENT 'UTC: first of the slots that are told one by one',
  slots_before  DATETIME NOT NULL COMMENT 'UTC: end of these; later slots are told where they are the busiest of a day',
  entries_read  BIGINT UNSIGNED NOT NULL COMMENT 'rows of tables that were read for it',
  schedules     BIGINT UNSIGNED NOT NULL COMMENT 'whose crontabs were read',
  schedules_all BIGINT UNSIGNED NOT NULL COMMENT 'for how many these stand: the optimiser''s estimate where there are more',
  PRIMARY KEY (id),
  CONSTRAINT {prefix}forecast_made_one_row CHECK (id = 1)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: when the forecast was made';
