-- The ids of the schedules that have a disabled_at: an index on that would have an entry for every schedule. Their timers write it.
CREATE TABLE IF NOT EXISTS {prefix}schedule_refused (
  schedule_id VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (schedule_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: schedules that have a disabled_at';
