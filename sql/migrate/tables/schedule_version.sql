-- What schedules were before they were changed or deleted, each whole. The change that puts another definition in its place keeps it: what a schedule
-- is stands in {prefix}schedule alone. Of a schedule the last 50 stay, and of one that was deleted until prune forgets it. What an UPDATE by plain SQL
-- overwrites is not kept; what it wrote is, by the next change.
CREATE TABLE IF NOT EXISTS {prefix}schedule_version (
  schedule        VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  created_at      DATETIME(6) NOT NULL COMMENT 'UTC: that of the schedule, which tells it from one of its id that was deleted',
  version         INT UNSIGNED NOT NULL COMMENT 'the last that the schedule had with this definition',
  ended_at        DATETIME(6) NOT NULL COMMENT 'UTC: when another took its place, or the schedule was deleted',
  crontabs        VARCHAR(2000) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  zone            VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  payload         MEDIUMBLOB NULL,
  job_exec        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  topic           VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner_name      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner_key       VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  catch_up        ENUM('once', 'skip', 'all') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  catch_up_within INT UNSIGNED NULL,
  expires_after   INT UNSIGNED NULL,
  jitter          INT UNSIGNED NULL,
  may_coalesce    BOOLEAN NOT NULL,
  is_long         BOOLEAN NOT NULL,
  overlap         ENUM('allow', 'forbid', 'queue') CHARACTER SET ascii COLLATE ascii_bin NULL,
  tolerance       INT UNSIGNED NULL,
  quota           INT UNSIGNED NULL,
  pool            VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  heartbeat       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- For the versions of a schedule, in order.
  PRIMARY KEY (schedule, created_at, version),
  CONSTRAINT {prefix}schedule_version_named CHECK (LENGTH(schedule) > 0 AND LENGTH(crontabs) > 0 AND schedule NOT LIKE '% ' AND owner_key NOT LIKE '% '
    AND CONCAT(job_exec, owner_name, pool, heartbeat) NOT REGEXP '[^A-Za-z0-9_.-]' AND topic NOT REGEXP '[^A-Za-z0-9_./-]'
    AND (LENGTH(owner_name) = 0) = (LENGTH(owner_key) = 0) AND (job_exec = '') <> (topic = '')),
  CONSTRAINT {prefix}schedule_version_bounded CHECK (COALESCE(LENGTH(payload), 0) <= 1048576 AND COALESCE(catch_up_within, 0) <= 316224000
    AND COALESCE(expires_after, 0) <= 316224000 AND COALESCE(jitter, 0) <= 316224000 AND COALESCE(tolerance, 0) <= 316224000
    AND COALESCE(quota, 0) <= 316224000 AND may_coalesce IN (0, 1) AND is_long IN (0, 1) AND LENGTH(catch_up) > 0 AND COALESCE(LENGTH(overlap), 1) > 0),
  CONSTRAINT {prefix}schedule_version_dated CHECK (created_at >= TIMESTAMP'1000-01-01 00:00:00' AND ended_at >= TIMESTAMP'1000-01-01 00:00:00')
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: what schedules were before they were changed';
