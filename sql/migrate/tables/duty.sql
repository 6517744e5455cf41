-- What one process does at a time, and which: a row for each duty, which the first to take it makes. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}duty (
  name            VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'rollup: sums up history',
  token           BIGINT UNSIGNED NOT NULL COMMENT 'fencing token: rises with everyone who takes it',
  worker          VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'who has it, or had it last',
  allocated_until DATETIME(6) NULL COMMENT 'UTC: until when it is that worker''s; NULL where it was given back',
  PRIMARY KEY (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: what one process does at a time';
