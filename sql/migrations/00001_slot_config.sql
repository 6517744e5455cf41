-- Table-wide settings that every client and worker must agree on: one row.
-- version is raised by whatever changes them; inserts and claims name the version they were made for.
-- Locks and copies nothing: the table is new.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS {prefix}slot_config (
  id           TINYINT UNSIGNED NOT NULL DEFAULT 1,
  resolution_s INT UNSIGNED     NOT NULL COMMENT 'seconds between two slots; divides 86400',
  version      BIGINT UNSIGNED  NOT NULL DEFAULT 1,
  changed_at   DATETIME(6)      NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
  PRIMARY KEY (id),
  CONSTRAINT {prefix}slot_config_one_row CHECK (id = 1),
  CONSTRAINT {prefix}slot_config_divides_a_day CHECK (resolution_s BETWEEN 1 AND 86400 AND 86400 % resolution_s = 0)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: settings that all must share';

INSERT IGNORE INTO {prefix}slot_config (id, resolution_s) VALUES (1, {seconds});

-- +goose Down
DROP TABLE IF EXISTS {prefix}slot_config;
