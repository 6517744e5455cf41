-- Schedules: what fires, when, and for whom. Apps write it. Each that is enabled has one timer in {prefix}future_job: entity ('schedule', id),
-- job_exec 'schedule.fire'. Crontabs and payload stand only here. A row that plain SQL inserts has version 0: its timer, due now, looks
-- whether it is valid, and takes its place, with the first call.
-- utc_offset: a crontab of fixed local times goes on after the local time that fired last, whatever other machines take the zone for.
-- The CHECKs hold plain SQL to what the client holds. The id of one that sends events is their key.
CREATE TABLE IF NOT EXISTS {prefix}schedule (
  id              VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  crontabs        VARCHAR(2000) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'one a line: it fires when one of them does',
  zone            VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'UTC' COMMENT 'IANA name',
  payload         MEDIUMBLOB NULL COMMENT 'carried byte for byte',
  job_exec        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '' COMMENT 'what it runs, or',
  topic           VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '' COMMENT 'where its events go',
  owner_name      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  owner_key       VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  catch_up        ENUM('once', 'skip', 'all') CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'once' COMMENT 'what is missed',
  catch_up_within INT UNSIGNED NULL COMMENT 'seconds: what is later is missed; NULL for the default',
  expires_after   INT UNSIGNED NULL COMMENT 'seconds after which an occurrence is of no use; NULL for never',
  jitter          INT UNSIGNED NULL COMMENT 'seconds: bound of its own, fixed delay; NULL for none',
  may_coalesce    BOOLEAN NOT NULL DEFAULT 0 COMMENT 'occurrences of one slot are one',
  version         INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'raised by every change; 0 until its timer has taken its place',
  enabled         BOOLEAN NOT NULL DEFAULT 1,
  disabled_at     DATETIME(6) NULL COMMENT 'UTC: when it was disabled, not by a person',
  disabled_reason VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  passed_over     INT UNSIGNED NULL COMMENT 'times that its timer passed over occurrences: missed ones, or events that had expired; NULL for never',
  caught_up       INT UNSIGNED NULL COMMENT 'missed occurrences that have fired, while others are left to the next call; NULL where none are',
  by_hand_at      DATETIME NULL COMMENT 'UTC: the second of its last run by hand',
  created_at      DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)) COMMENT 'UTC: what @every counts from', -- only full
  created_at      DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'UTC: what @every counts from', -- only plain
  updated_at      DATETIME(6) NULL COMMENT 'UTC; NULL until it is changed',
  is_long         BOOLEAN NOT NULL DEFAULT 0 COMMENT 'its runs may outlive their slots',
  overlap         ENUM('allow', 'forbid', 'queue') CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'NULL for the default',
  tolerance       INT UNSIGNED NULL COMMENT 'seconds by which a run may come too soon; NULL for the default',
  quota           INT UNSIGNED NULL COMMENT 'seconds that a run may take; 0 for no bound, NULL for the default',
  last_started_at DATETIME(6) NULL COMMENT 'UTC: its last long run',
  pool            VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '' COMMENT 'of its long runs; empty for that of the job_exec',
  utc_offset      INT NULL COMMENT 'seconds: by which the time that its timer waits for was computed; NULL where crontabs go by instants',
  -- For timers, one entry each.
  PRIMARY KEY (id),
  -- For delete_schedules, and lists of an owner.
  KEY owner (owner_name, owner_key, id),
  CONSTRAINT {prefix}schedule_named CHECK (LENGTH(id) > 0 AND LENGTH(crontabs) > 0 AND id NOT LIKE '% ' AND owner_key NOT LIKE '% '),
  CONSTRAINT {prefix}schedule_payload_size CHECK (LENGTH(payload) <= 1048576),
  CONSTRAINT {prefix}schedule_fires_one CHECK ((job_exec = '') <> (topic = '')),
  CONSTRAINT {prefix}schedule_sends CHECK (topic = '' OR id NOT REGEXP '^ | $|[[:cntrl:]]'),
  CONSTRAINT {prefix}schedule_seen CHECK (LENGTH(CONCAT(id, owner_key)) = CHAR_LENGTH(CONCAT(id, owner_key))
    OR CONCAT(id, owner_key) NOT REGEXP REPLACE('{unseen}', '~', CONVERT(UNHEX('5C') USING utf8mb4))),
  CONSTRAINT {prefix}schedule_identified CHECK (CONCAT(job_exec, owner_name, pool) NOT REGEXP '[^A-Za-z0-9_.-]'
    AND topic NOT REGEXP '[^A-Za-z0-9_./-]' AND job_exec <> 'schedule.fire' AND (LENGTH(owner_name) = 0) = (LENGTH(owner_key) = 0)),
  CONSTRAINT {prefix}schedule_dated CHECK (created_at >= TIMESTAMP'1000-01-01 00:00:00'
    AND COALESCE(updated_at, created_at) >= TIMESTAMP'1000-01-01 00:00:00'
    AND COALESCE(disabled_at, created_at) >= TIMESTAMP'1000-01-01 00:00:00'),
  CONSTRAINT {prefix}schedule_bounded CHECK (COALESCE(catch_up_within, 0) <= 316224000 AND COALESCE(expires_after, 0) <= 316224000
    AND COALESCE(jitter, 0) <= 316224000 AND COALESCE(tolerance, 0) <= 316224000 AND COALESCE(quota, 0) <= 316224000
    AND COALESCE(utc_offset, 0) BETWEEN -93600 AND 93600),
  CONSTRAINT {prefix}schedule_switched CHECK (enabled IN (0, 1) AND may_coalesce IN (0, 1) AND is_long IN (0, 1) AND LENGTH(catch_up) > 0
    AND COALESCE(LENGTH(overlap), 1) > 0),
  CONSTRAINT {prefix}schedule_long CHECK (is_long = 1 AND LENGTH(job_exec) > 0 OR is_long = 0 AND overlap IS NULL
    AND COALESCE(tolerance, 0) = 0 AND quota IS NULL AND LENGTH(pool) = 0)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: schedules';
