-- Whether slots and days to come end in time: by run times of the last day, and the concurrency of the agents that live, at full pace. What the
-- server itself takes for reads and commits is not in it. Written with {prefix}forecast. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}forecast_fit (
  grain         ENUM('slot', 'day') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  start         DATETIME NOT NULL COMMENT 'UTC',
  due           BIGINT UNSIGNED NOT NULL COMMENT 'pending checks',
  low           BIGINT UNSIGNED NOT NULL COMMENT 'two standard errors below due; due where it is exact, or nobody knows its error',
  high          BIGINT UNSIGNED NOT NULL COMMENT 'two standard errors above',
  occurrences   BIGINT UNSIGNED NOT NULL COMMENT 'of schedules, that are not pending yet',
  how           ENUM('exact', 'sample', 'optimiser', 'least') CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'as in forecast',
  concurrency   BIGINT UNSIGNED NOT NULL COMMENT 'calls that the live agents which serve it make at a time',
  unknown       BIGINT UNSIGNED NOT NULL COMMENT 'calls whose run time nobody knows: they count as no time',
  begins_at     DATETIME(6) NULL COMMENT 'UTC: when its first call is to start; NULL where nothing is known',
  last_start_at DATETIME(6) NULL COMMENT 'UTC: its last',
  ends_at       DATETIME(6) NULL COMMENT 'UTC: when the last is to end',
  verdict       ENUM('fits', 'next', 'sla', 'unserved', 'unknown') CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'next: it ends after the next begins; sla: later than the guard; unserved: no live agent serves it; unknown: more than a tenth is',
  over_ms       BIGINT UNSIGNED NOT NULL COMMENT 'by how much it is over that',
  job_exec      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '' COMMENT 'whose SLA',
  made_at       DATETIME(6) NOT NULL COMMENT 'UTC: when the reading for it began; apps read it here',
  PRIMARY KEY (grain, start)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: whether slots to come end in time';
