-- Who publishes which shard of the outbox: 64 rows, which forwarders lease.
CREATE TABLE IF NOT EXISTS {prefix}event_shard (
  shard           TINYINT UNSIGNED NOT NULL COMMENT 'of event_outbox: 0 to 63',
  token           BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'fencing token: rises with every forwarder that takes it',
  forwarder       VARCHAR(96) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'who has it, or had it last',
  allocated_until DATETIME(6) NOT NULL COMMENT 'UTC: until when it is that forwarder''s; over where it may be taken',
  PRIMARY KEY (shard)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: leases of forwarders';

INSERT IGNORE INTO {prefix}event_shard (shard, allocated_until) VALUES
  (0, '2000-01-01'), (1, '2000-01-01'), (2, '2000-01-01'), (3, '2000-01-01'), (4, '2000-01-01'), (5, '2000-01-01'), (6, '2000-01-01'), (7, '2000-01-01'),
  (8, '2000-01-01'), (9, '2000-01-01'), (10, '2000-01-01'), (11, '2000-01-01'), (12, '2000-01-01'), (13, '2000-01-01'), (14, '2000-01-01'), (15, '2000-01-01'),
  (16, '2000-01-01'), (17, '2000-01-01'), (18, '2000-01-01'), (19, '2000-01-01'), (20, '2000-01-01'), (21, '2000-01-01'), (22, '2000-01-01'), (23, '2000-01-01'),
  (24, '2000-01-01'), (25, '2000-01-01'), (26, '2000-01-01'), (27, '2000-01-01'), (28, '2000-01-01'), (29, '2000-01-01'), (30, '2000-01-01'), (31, '2000-01-01'),
  (32, '2000-01-01'), (33, '2000-01-01'), (34, '2000-01-01'), (35, '2000-01-01'), (36, '2000-01-01'), (37, '2000-01-01'), (38, '2000-01-01'), (39, '2000-01-01'),
  (40, '2000-01-01'), (41, '2000-01-01'), (42, '2000-01-01'), (43, '2000-01-01'), (44, '2000-01-01'), (45, '2000-01-01'), (46, '2000-01-01'), (47, '2000-01-01'),
  (48, '2000-01-01'), (49, '2000-01-01'), (50, '2000-01-01'), (51, '2000-01-01'), (52, '2000-01-01'), (53, '2000-01-01'), (54, '2000-01-01'), (55, '2000-01-01'),
  (56, '2000-01-01'), (57, '2000-01-01'), (58, '2000-01-01'), (59, '2000-01-01'), (60, '2000-01-01'), (61, '2000-01-01'), (62, '2000-01-01'), (63, '2000-01-01');
