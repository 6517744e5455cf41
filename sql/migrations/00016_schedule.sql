-- Schedules: what fires, when, and for whom. Each that is enabled has one timer in future_job: entity ('schedule', id), job_exec
-- 'schedule.fire'. Crontabs and payload stand only here. A row that plain SQL inserts has version 0: its timer, due now, looks
-- whether it is valid, and takes its place, with the first call.
-- schedule_refused: the ids of those that have a disabled_at. An index on that would have an entry for every schedule.
-- event_outbox: what schedules that name a topic have fired, and a forwarder is to publish, in the order of seq for each key.
-- Locks and copies nothing: the tables are new.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS {prefix}schedule (
  id              VARCHAR(128)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  crontabs        VARCHAR(2000) CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL COMMENT 'one a line: it fires when one of them does',
  zone            VARCHAR(64)   CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL DEFAULT 'UTC' COMMENT 'IANA name',
  payload         MEDIUMBLOB    NULL COMMENT 'carried byte for byte',
  job_exec        VARCHAR(64)   CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL DEFAULT '' COMMENT 'what it runs, or',
  topic           VARCHAR(128)  CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL DEFAULT '' COMMENT 'where its events go',
  owner_name      VARCHAR(64)   CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL DEFAULT '',
  owner_key       VARCHAR(128)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  catch_up        ENUM('once', 'skip', 'all') CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'once' COMMENT 'what is missed',
  catch_up_within INT UNSIGNED  NULL COMMENT 'seconds: what is later is missed; NULL for the default',
  expires_after   INT UNSIGNED  NULL COMMENT 'seconds after which an occurrence is of no use; NULL for never',
  jitter          INT UNSIGNED  NULL COMMENT 'seconds: bound of its own, fixed delay; NULL for none',
  may_coalesce    BOOLEAN       NOT NULL DEFAULT 0 COMMENT 'occurrences of one slot are one',
  version         INT UNSIGNED  NOT NULL DEFAULT 0 COMMENT 'raised by every change; 0 until its timer has taken its place',
  enabled         BOOLEAN       NOT NULL DEFAULT 1,
  disabled_at     DATETIME(6)   NULL COMMENT 'UTC: when it was disabled, not by a person',
  disabled_reason VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  passed_over     INT UNSIGNED  NULL COMMENT 'times that its timer passed over occurrences: missed ones, or events that had expired; NULL for never',
  caught_up       INT UNSIGNED  NULL COMMENT 'missed occurrences that have fired, while others are left to the next call; NULL where none are',
  by_hand_at      DATETIME      NULL COMMENT 'UTC: the second of its last run by hand',
  created_at      DATETIME(6)   NOT NULL DEFAULT (UTC_TIMESTAMP(6)) COMMENT 'UTC: what @every counts from',
  updated_at      DATETIME(6)   NULL COMMENT 'UTC; NULL until it is changed',
  PRIMARY KEY (id),
  KEY owner (owner_name, owner_key, id),
  CONSTRAINT {prefix}schedule_named CHECK (LENGTH(id) > 0 AND LENGTH(crontabs) > 0 AND id NOT LIKE '% ' AND owner_key NOT LIKE '% '),
  CONSTRAINT {prefix}schedule_payload_size CHECK (LENGTH(payload) <= 1048576),
  CONSTRAINT {prefix}schedule_fires_one CHECK ((job_exec = '') <> (topic = ''))
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: schedules';

CREATE TABLE IF NOT EXISTS {prefix}schedule_refused (
  schedule_id VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (schedule_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: schedules that have a disabled_at';

CREATE TABLE IF NOT EXISTS {prefix}event_outbox (
  shard        TINYINT UNSIGNED NOT NULL COMMENT 'of its key: 0 to 63',
  seq          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  id           VARCHAR(160) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'the same for every copy of the event',
  topic        VARCHAR(128) CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL,
  event_key    VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'events of one key are published in order',
  generated_at DATETIME(6)  NOT NULL COMMENT 'UTC: when it was due',
  payload      MEDIUMBLOB   NULL,
  inserted_at  DATETIME(6)  NOT NULL COMMENT 'UTC',
  PRIMARY KEY (shard, seq),
  UNIQUE KEY seq (seq)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: events to be published';
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 16);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 15;
DROP TABLE IF EXISTS {prefix}event_outbox;
DROP TABLE IF EXISTS {prefix}schedule_refused;
DROP TABLE IF EXISTS {prefix}schedule;
