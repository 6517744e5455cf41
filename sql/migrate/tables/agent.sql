-- Agents: the processes that stay up and work, and timers that come and go. Each renews its row, so that others see who is there.
CREATE TABLE IF NOT EXISTS {prefix}agent (
  name         VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'of the worker, as in slot_run and long_run',
  instance     BIGINT UNSIGNED NOT NULL COMMENT 'random: tells two processes of one name apart',
  host         VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  pid          INT UNSIGNED NOT NULL,
  version      VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'of the program',
  assignment   VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'every slot, minutes 0,30 or share 1/2',
  pools        JSON NOT NULL COMMENT 'whose long runs it takes, and how many of each: {"heavy": 4}',
  concurrency  INT UNSIGNED NOT NULL COMMENT 'how many calls it makes at a time',
  busy         DECIMAL(5,4) NOT NULL COMMENT 'the share of that which was in use since the heartbeat before, 0 to 1',
  long_runs    INT UNSIGNED NOT NULL COMMENT 'that it has in hand',
  load_1m      DECIMAL(9,2) NULL COMMENT 'one-minute load of the host; NULL where it cannot be told',
  memory_bytes BIGINT UNSIGNED NOT NULL COMMENT 'that the process has of the system',
  clock_ms     BIGINT NOT NULL COMMENT 'by how much its clock is ahead of the database''s, to a round trip',
  stopping     BOOLEAN NOT NULL DEFAULT 0 COMMENT 'it starts nothing new',
  started_at   DATETIME(6) NOT NULL COMMENT 'UTC',
  seen_at      DATETIME(6) NOT NULL COMMENT 'UTC: its last heartbeat',
  connections  INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'how many it has at most; 0 for no bound',
  kind         VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'work' COMMENT 'work, or a timer that calls run or sweep',
  due_at       DATETIME(6) NULL COMMENT 'UTC: by when a timer is to be heard of again; NULL for what stays up',
  PRIMARY KEY (name, instance),
  -- For who forgets agents that are gone.
  KEY seen_at (seen_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: processes that work';
