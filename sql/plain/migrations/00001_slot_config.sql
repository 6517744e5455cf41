-- Table-wide settings that every client and worker must agree on: one row.
-- version is raised by whatever changes them; inserts and claims name the version they were made for.

-- In the dialect plain without CHECKs, and with the columns that later migrations add in the full one, since no ADD COLUMN can be
-- repeated on every server. changed_at goes by the session's time zone where an INSERT does not give it.
-- Locks and copies nothing: the table is new.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS {prefix}slot_config (
  id           TINYINT UNSIGNED NOT NULL DEFAULT 1,
  resolution_s INT UNSIGNED     NOT NULL COMMENT 'seconds between two slots; divides 86400',
  version      BIGINT UNSIGNED  NOT NULL DEFAULT 1,
  schema_version INT UNSIGNED   NOT NULL DEFAULT 0 COMMENT 'number of the newest migration',
  changed_at   DATETIME(6)      NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  resolution_to_s INT UNSIGNED  NULL COMMENT 'what a reslot under way goes to',
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: settings that all must share';

INSERT IGNORE INTO {prefix}slot_config (id, resolution_s) VALUES (1, {seconds});

-- +goose Down
DROP TABLE IF EXISTS {prefix}slot_config;
