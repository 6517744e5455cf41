-- What is pending, clustered by slot: a slot run reads one range of the primary key. Apps insert and cancel, workers move and end.
--
-- entity_name, entity_key, job_exec and due_at (UTC) are all that a plain INSERT must give: the defaults fill in the rest. Columns stand
-- in the order that their defaults need. The round-up to a slot is in whole microseconds: with / and CEILING MySQL is early by one.
--
-- The CHECKs hold plain SQL to what the client holds: names that can be seen, identifiers, days of the calendar, a slot of the grid, and a
-- payload of 4 MB (and 64 bytes, for what MySQL adds) as the server stores it: MySQL takes the first of the comments in payload_size for
-- text, MariaDB the second. What is all ASCII is not searched for what cannot be seen. Only timers have the entity schedule, in any spelling.
-- Any session of MariaDB may switch CHECKs off (check_constraint_checks): so whoever reads a row stands one that they refuse, and it costs itself alone.
-- Zero dates and the 31st of February, which a lax sql_mode takes, no sweep would find, and the server copies no table that has one.
--
-- In the dialect plain the client and the command fill in and hold all that. TiDB alone reads the comment in the primary key.
CREATE TABLE IF NOT EXISTS {prefix}future_job (
  entity_name    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  entity_key     VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  job_exec       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  tag            VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  due_at         DATETIME(6) NOT NULL COMMENT 'UTC: the time asked for',
  job_key        BINARY(16) NOT NULL DEFAULT (CONCAT( -- only full
                   SUBSTRING(UNHEX(SHA2(CONCAT(CAST(entity_name AS BINARY), UNHEX('00'), CAST(entity_key AS BINARY)), 256)), 1, 12), -- only full
                   SUBSTRING(UNHEX(SHA2(CONCAT(CAST(job_exec AS BINARY), UNHEX('00'), CAST(tag AS BINARY)), 256)), 1, 4))), -- only full
  first_check_at DATETIME NOT NULL DEFAULT (TIMESTAMP'1970-01-01 00:00:00' + INTERVAL -- only full
                   ((TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', due_at) + {micros} - 1) DIV {micros}) * {seconds} SECOND) -- only full
                   COMMENT 'UTC: the first slot', -- only full
  next_check_at  DATETIME NOT NULL DEFAULT (first_check_at) COMMENT 'UTC: the slot it waits for', -- only full
  job_key        BINARY(16) NOT NULL, -- only plain
  first_check_at DATETIME NOT NULL COMMENT 'UTC: the first slot', -- only plain
  next_check_at  DATETIME NOT NULL COMMENT 'UTC: the slot it waits for', -- only plain
  check_count    INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'times that its job_exec returned',
  error_count    INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'errors in a row',
  put_off_count  INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'times in a row it was moved on without a call',
  last_error     VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  total_ms       BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'run time of all its checks',
  payload        JSON NULL,
  revision       BIGINT UNSIGNED NOT NULL DEFAULT (UUID_SHORT()) COMMENT 'new with every change', -- only full
  inserted_at    DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)), -- only full
  revision       BIGINT UNSIGNED NOT NULL COMMENT 'new with every change', -- only plain
  inserted_at    DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), -- only plain
  expires_at     DATETIME(6) NULL COMMENT 'UTC: not called from then on; NULL for never',
  -- For slot runs, sweeps and lists, in the order of slots.
  PRIMARY KEY (next_check_at, job_key), -- only full
  PRIMARY KEY (next_check_at, job_key) /*T![clustered_index] CLUSTERED */, -- only plain
  -- For whoever looks for the checks of an entity: insert, cancel, reschedule, get.
  UNIQUE KEY job_key (job_key),
  CONSTRAINT {prefix}future_job_on_grid CHECK (next_check_at >= TIMESTAMP'1000-01-01 00:00:00'
    AND TIMESTAMPDIFF(SECOND, TIMESTAMP'1970-01-01 00:00:00', next_check_at) % {seconds} = 0),
  CONSTRAINT {prefix}future_job_payload_size CHECK (/*!80000 JSON_STORAGE_SIZE *//*M! LENGTH */(payload) <= 4194368),
  CONSTRAINT {prefix}future_job_named CHECK (LENGTH(entity_name) > 0 AND LENGTH(entity_key) > 0 AND LENGTH(job_exec) > 0),
  CONSTRAINT {prefix}future_job_identified CHECK (CONCAT(entity_name, job_exec) NOT REGEXP '[^A-Za-z0-9_.-]'),
  CONSTRAINT {prefix}future_job_dated CHECK (due_at >= TIMESTAMP'1000-01-01 00:00:00' AND first_check_at >= TIMESTAMP'1000-01-01 00:00:00'
    AND expires_at >= TIMESTAMP'1000-01-01 00:00:00'),
  CONSTRAINT {prefix}future_job_seen CHECK (LENGTH(CONCAT(entity_key, tag)) = CHAR_LENGTH(CONCAT(entity_key, tag))
    OR CONCAT(entity_key, tag) NOT REGEXP REPLACE('{unseen}', '~', CONVERT(UNHEX('5C') USING utf8mb4))),
  CONSTRAINT {prefix}future_job_unreserved CHECK (entity_name = 'schedule' OR LOWER(entity_name) <> 'schedule'),
  CONSTRAINT {prefix}future_job_inserted CHECK (inserted_at >= TIMESTAMP'1000-01-01 00:00:00'),
  CONSTRAINT {prefix}future_job_calendar CHECK ((due_at + INTERVAL 0 DAY = due_at AND first_check_at + INTERVAL 0 DAY = first_check_at
    AND next_check_at + INTERVAL 0 DAY = next_check_at AND inserted_at + INTERVAL 0 DAY = inserted_at) IS TRUE AND (expires_at IS NULL
    OR (expires_at + INTERVAL 0 DAY = expires_at) IS TRUE))
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: pending checks';
