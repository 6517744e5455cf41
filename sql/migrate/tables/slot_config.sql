-- What every client and worker must agree on: one row. Only the owner writes it: migrate and reslot.
-- version is raised by whatever changes the rest; inserts and claims name the version that they were made for.
-- migrated_to is for programs that may not read {prefix}schema_version: they look at it when they open the tables.
-- While resolution_to_s is set nobody claims, and no client or worker starts.
CREATE TABLE IF NOT EXISTS {prefix}slot_config (
  id              TINYINT UNSIGNED NOT NULL DEFAULT 1,
  resolution_s    INT UNSIGNED NOT NULL COMMENT 'seconds between two slots; divides 86400',
  resolution_to_s INT UNSIGNED NULL COMMENT 'what a reslot under way goes to', -- only full
  version         BIGINT UNSIGNED NOT NULL DEFAULT 1,
  migrated_to     INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'number of the newest migration',
  changed_at      DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)), -- only full
  changed_at      DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), -- only plain
  resolution_to_s INT UNSIGNED NULL COMMENT 'what a reslot under way goes to', -- only plain
  PRIMARY KEY (id),
  CONSTRAINT {prefix}slot_config_one_row CHECK (id = 1),
  CONSTRAINT {prefix}slot_config_divides_a_day CHECK (resolution_s BETWEEN 1 AND 86400 AND 86400 % resolution_s = 0)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: settings that all must share';

INSERT IGNORE INTO {prefix}slot_config (id, resolution_s) VALUES (1, {seconds});
