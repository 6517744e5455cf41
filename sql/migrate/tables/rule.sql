-- Rules: which check comes after which occasion. People who define rules write it; every app and worker reads it. What a version says stands in
-- {prefix}rule_version. A rule that is deleted stays, so that its versions go on where one of its name is made, and its pending checks can still be
-- judged. The columns of the walk are those of whoever moves what is pending. The same on each shard.
CREATE TABLE IF NOT EXISTS {prefix}rule (
  name         VARCHAR(59) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'its checks have the tag rule:<name>',
  version      INT UNSIGNED NOT NULL COMMENT 'in rule_version: rises with every change, also of the state',
  occasion     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'what makes its checks: the same in all versions',
  job_exec     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'what they run: the same in all versions',
  state        ENUM('on', 'off', 'deleted') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  since        DATETIME(6) NOT NULL COMMENT 'UTC: when it was made, or switched on: what happened before makes no check',
  moved_to     INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'pending checks of versions before this one go to it; 0 for none',
  ended_to     INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'pending checks of versions before this one end; 0 for none',
  created_at   DATETIME(6) NOT NULL COMMENT 'UTC',
  updated_at   DATETIME(6) NOT NULL COMMENT 'UTC',
  walked_to    INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'the version for which all that is pending has been looked at',
  walk_pass    INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'how often all has been looked at, this time included; 0 where no walk is under way',
  walk_reached VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '' COMMENT 'slot and job_key behind which it goes on',
  walk_found   BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'checks that this pass has met which were to be moved or ended',
  walk_moved   BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'checks that it has moved',
  walk_late    BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'those of them whose new time was over',
  walk_ended   BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'checks that it has ended',
  walk_at      DATETIME(6) NULL COMMENT 'UTC: when this pass began',
  PRIMARY KEY (name),
  CONSTRAINT {prefix}rule_named CHECK (LENGTH(name) > 0 AND LENGTH(occasion) > 0 AND LENGTH(job_exec) > 0
    AND CONCAT(name, occasion, job_exec) NOT REGEXP '[^A-Za-z0-9_.-]' AND job_exec <> 'schedule.fire'),
  CONSTRAINT {prefix}rule_versioned CHECK (version > 0 AND moved_to <= version AND ended_to <= version AND walked_to <= version AND LENGTH(state) > 0),
  CONSTRAINT {prefix}rule_dated CHECK (since >= TIMESTAMP'1000-01-01 00:00:00' AND created_at >= TIMESTAMP'1000-01-01 00:00:00'
    AND updated_at >= TIMESTAMP'1000-01-01 00:00:00' AND COALESCE(walk_at, updated_at) >= TIMESTAMP'1000-01-01 00:00:00')
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: which check comes after which occasion';
