-- Which hours of history are summed up, and when each is looked at again. Whoever has the duty rollup writes it.
CREATE TABLE IF NOT EXISTS {prefix}stats_hour (
  start        DATETIME NOT NULL COMMENT 'UTC: of the hour in which checks ended',
  ends         BIGINT UNSIGNED NOT NULL COMMENT 'that were summed up',
  next_look_at DATETIME NULL COMMENT 'UTC: when it is compared with history next; NULL for prune alone',
  summed_at    DATETIME(6) NOT NULL COMMENT 'UTC',
  day_at       DATETIME(6) NULL COMMENT 'UTC: when its sums went into those of its day; NULL where they have yet to',
  PRIMARY KEY (start),
  -- For the next look.
  KEY next_look_at (next_look_at),
  -- For the next day.
  KEY day_at (day_at, start),
  CONSTRAINT {prefix}stats_hour_whole CHECK (MINUTE(start) = 0 AND SECOND(start) = 0)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: which hours of history are summed up';
