-- Long runs: checks that outlive their slot. While an agent has one, its row in {prefix}future_job waits. Workers and agents write it. A row is
-- that of one check; that of the last run of a schedule stays until the next starts, or prune takes it.
-- In the dialect plain without CHECKs.
CREATE TABLE IF NOT EXISTS {prefix}long_run (
  job_key         BINARY(16) NOT NULL COMMENT 'of the check: in future_job, and in job_history once it ended',
  schedule_id     VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'NULL for the check of an app',
  occurrence      VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'its unix second: the tag of the check',
  agent           VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'the worker that has it, or had it last',
  token           BIGINT UNSIGNED NOT NULL COMMENT 'fencing token: rises with every start',
  allocated_until DATETIME(6) NULL COMMENT 'UTC: until when it is the agent''s; over where it may be claimed; NULL while it waits for another run, and once it ended',
  slot            DATETIME NOT NULL COMMENT 'UTC: in which it started last',
  due_at          DATETIME(6) NOT NULL COMMENT 'UTC: with the next two, which check of that key it is',
  inserted_at     DATETIME(6) NOT NULL,
  check_count     INT UNSIGNED NOT NULL,
  started_at      DATETIME(6) NULL COMMENT 'UTC: for the first time; NULL while it waits for the one before it',
  called_at       DATETIME(6) NULL COMMENT 'UTC: for the last time',
  takeovers       INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'from agents that let it lapse',
  checkpoint      MEDIUMBLOB NULL COMMENT 'where the next call goes on',
  ended_at        DATETIME(6) NULL,
  outcome         ENUM('done', 'cancelled', 'max_checks', 'past_return', 'beyond_horizon', 'failed', 'timed_out', 'crashed',
                    'expired', 'superseded', 'missed', 'too_soon', 'overlapped', 'quota')
                  CHARACTER SET ascii COLLATE ascii_bin NULL,
  pool            VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '' COMMENT 'whose agents may have it; empty for all',
  -- For claims and fences, one entry each.
  PRIMARY KEY (job_key),
  -- For prune.
  KEY ended_at (ended_at),
  -- For what an agent can claim, and what lapses next.
  KEY pool (pool, allocated_until)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: long runs';
