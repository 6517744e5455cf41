-- Forwarding: who publishes which shard of event_outbox, what a broker refused, and how much was published.
-- event_published is empty unless the configuration asks for published events to be kept.
-- event_seen is for consumers with this database: the ids that they have worked on.
-- Locks and copies nothing: the tables are new.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS {prefix}event_shard (
  shard        TINYINT UNSIGNED NOT NULL COMMENT 'of event_outbox: 0 to 63',
  token        BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'fencing token: rises with every forwarder that takes it',
  forwarder    VARCHAR(96) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'who has it, or had it last',
  leased_until DATETIME(6) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (shard)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: leases of forwarders';
INSERT IGNORE INTO {prefix}event_shard (shard, leased_until) VALUES
  (0, '2000-01-01'), (1, '2000-01-01'), (2, '2000-01-01'), (3, '2000-01-01'), (4, '2000-01-01'), (5, '2000-01-01'), (6, '2000-01-01'), (7, '2000-01-01'),
  (8, '2000-01-01'), (9, '2000-01-01'), (10, '2000-01-01'), (11, '2000-01-01'), (12, '2000-01-01'), (13, '2000-01-01'), (14, '2000-01-01'), (15, '2000-01-01'),
  (16, '2000-01-01'), (17, '2000-01-01'), (18, '2000-01-01'), (19, '2000-01-01'), (20, '2000-01-01'), (21, '2000-01-01'), (22, '2000-01-01'), (23, '2000-01-01'),
  (24, '2000-01-01'), (25, '2000-01-01'), (26, '2000-01-01'), (27, '2000-01-01'), (28, '2000-01-01'), (29, '2000-01-01'), (30, '2000-01-01'), (31, '2000-01-01'),
  (32, '2000-01-01'), (33, '2000-01-01'), (34, '2000-01-01'), (35, '2000-01-01'), (36, '2000-01-01'), (37, '2000-01-01'), (38, '2000-01-01'), (39, '2000-01-01'),
  (40, '2000-01-01'), (41, '2000-01-01'), (42, '2000-01-01'), (43, '2000-01-01'), (44, '2000-01-01'), (45, '2000-01-01'), (46, '2000-01-01'), (47, '2000-01-01'),
  (48, '2000-01-01'), (49, '2000-01-01'), (50, '2000-01-01'), (51, '2000-01-01'), (52, '2000-01-01'), (53, '2000-01-01'), (54, '2000-01-01'), (55, '2000-01-01'),
  (56, '2000-01-01'), (57, '2000-01-01'), (58, '2000-01-01'), (59, '2000-01-01'), (60, '2000-01-01'), (61, '2000-01-01'), (62, '2000-01-01'), (63, '2000-01-01');

CREATE TABLE IF NOT EXISTS {prefix}event_forwarder (
  name       VARCHAR(96) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  seen_until DATETIME(6) NOT NULL COMMENT 'UTC: until when it counts as alive',
  PRIMARY KEY (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: forwarders, which share the shards';

CREATE TABLE IF NOT EXISTS {prefix}event_topic (
  topic         VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  failing_since DATETIME(6)  NOT NULL COMMENT 'UTC',
  failed_at     DATETIME(6)  NOT NULL COMMENT 'UTC: last',
  event_id      VARCHAR(160) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'which was published last without success',
  reason        VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (topic)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: topics that cannot be published to';

CREATE TABLE IF NOT EXISTS {prefix}event_set_aside (
  seq          BIGINT UNSIGNED NOT NULL COMMENT 'that it had in event_outbox',
  shard        TINYINT UNSIGNED NOT NULL,
  id           VARCHAR(160) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  topic        VARCHAR(128) CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL,
  event_key    VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  generated_at DATETIME(6)  NOT NULL COMMENT 'UTC',
  payload      MEDIUMBLOB   NULL,
  inserted_at  DATETIME(6)  NOT NULL COMMENT 'UTC',
  refused_at   DATETIME(6)  NOT NULL COMMENT 'UTC',
  reason       VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (seq)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: events that a broker refused';

CREATE TABLE IF NOT EXISTS {prefix}event_count (
  slot      DATETIME     NOT NULL COMMENT 'UTC: in which the broker acknowledged, or refused',
  topic     VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  published INT UNSIGNED NOT NULL,
  set_aside INT UNSIGNED NOT NULL,
  PRIMARY KEY (slot, topic)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: how many events were published';

CREATE TABLE IF NOT EXISTS {prefix}event_published (
  published_at DATETIME(6)  NOT NULL COMMENT 'UTC: when it was noted that the broker had acknowledged it',
  seq          BIGINT UNSIGNED NOT NULL,
  id           VARCHAR(160) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  topic        VARCHAR(128) CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL,
  event_key    VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  generated_at DATETIME(6)  NOT NULL COMMENT 'UTC',
  payload      MEDIUMBLOB   NULL,
  inserted_at  DATETIME(6)  NOT NULL COMMENT 'UTC',
  PRIMARY KEY (published_at, seq)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: published events'
PARTITION BY RANGE COLUMNS (published_at) (
  PARTITION p_later VALUES LESS THAN (MAXVALUE)
);

CREATE TABLE IF NOT EXISTS {prefix}event_seen (
  consumer VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  id       VARCHAR(160) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'of an event that it has worked on',
  seen_at  DATETIME(6)  NOT NULL COMMENT 'UTC',
  PRIMARY KEY (consumer, id),
  KEY seen_at (seen_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: events that consumers have worked on';
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 19);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 18;
DROP TABLE IF EXISTS {prefix}event_seen;
DROP TABLE IF EXISTS {prefix}event_published;
DROP TABLE IF EXISTS {prefix}event_count;
DROP TABLE IF EXISTS {prefix}event_set_aside;
DROP TABLE IF EXISTS {prefix}event_topic;
DROP TABLE IF EXISTS {prefix}event_forwarder;
DROP TABLE IF EXISTS {prefix}event_shard;
