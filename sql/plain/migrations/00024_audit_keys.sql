-- The entries of the audit have no numbers any more, as in the full dialect; whoever writes one gives the random id, too. No CHECK holds stream
-- to kind and id: the library gives the right one. TiDB changes no primary key, so that the table is copied, and takes the place of the
-- other; entries that are written meanwhile follow. The dialect plain has no procedures.
-- Reads audit_log, and locks it for the moment in which the names change.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS {prefix}schedule_deleted (
  id          VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  fired_until DATETIME(6)  NOT NULL COMMENT 'UTC: when it was deleted; later where the clock had been put back',
  PRIMARY KEY (id),
  KEY fired_until (fired_until)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: until when schedules that were deleted have fired';
DROP TABLE IF EXISTS {prefix}audit_log_before, {prefix}audit_log_next;
CREATE TABLE IF NOT EXISTS {prefix}audit_log_next (
  at            DATETIME(6)   NOT NULL COMMENT 'UTC',
  stream        BINARY(16)    NOT NULL COMMENT 'hash of kind and id',
  seq           INT UNSIGNED  NULL COMMENT 'of programs from before migration 24: nothing reads it',
  kind          VARCHAR(32)   CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL COMMENT 'of the object, such as schedule',
  id            VARCHAR(400)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  verb          VARCHAR(32)   CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL COMMENT 'what was done, such as create',
  version       BIGINT UNSIGNED  NULL COMMENT 'of the object, after the change; NULL where it has none',
  account       VARCHAR(320)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'of the database, and from which host',
  person        VARCHAR(128)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'as it was given',
  host          VARCHAR(255)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'of the program',
  program       VARCHAR(128)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  command       VARCHAR(128)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'or other door; empty for the library',
  reason        VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'as it was given',
  before_change MEDIUMTEXT    CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'JSON; NULL for nothing',
  after_change  MEDIUMTEXT    CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'JSON; NULL for nothing',
  pruned        BOOLEAN       NOT NULL DEFAULT 0 COMMENT 'the entries before it in its stream were pruned',
  entry         BINARY(8)     NOT NULL COMMENT 'random',
  incarnation   DATETIME(6)   NULL COMMENT 'created_at of the object whose version it made; NULL where it made none',
  PRIMARY KEY (at, entry),
  KEY stream (stream, at),
  KEY incarnation (stream, incarnation, version, pruned)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: what was changed, by whom and why';
INSERT INTO {prefix}audit_log_next (at, account, stream, seq, kind, id, verb, version, person, host, program, command, reason, before_change, after_change, pruned, entry)
SELECT at, account, SUBSTRING(UNHEX(SHA2(CONCAT(kind, UNHEX('00'), CAST(id AS BINARY)), 256)), 1, 16), seq, kind, id, verb, version, person, host, program, command, reason, before_change, after_change, pruned,
  IF(seq IS NULL, RANDOM_BYTES(8), SUBSTRING(UNHEX(SHA2(CONCAT(HEX(stream), '/', seq), 256)), 1, 8)) FROM {prefix}audit_log;
RENAME TABLE {prefix}audit_log TO {prefix}audit_log_before, {prefix}audit_log_next TO {prefix}audit_log;
INSERT IGNORE INTO {prefix}audit_log (at, account, stream, seq, kind, id, verb, version, person, host, program, command, reason, before_change, after_change, pruned, entry)
SELECT at, account, SUBSTRING(UNHEX(SHA2(CONCAT(kind, UNHEX('00'), CAST(id AS BINARY)), 256)), 1, 16), seq, kind, id, verb, version, person, host, program, command, reason, before_change, after_change, pruned,
  IF(seq IS NULL, RANDOM_BYTES(8), SUBSTRING(UNHEX(SHA2(CONCAT(HEX(stream), '/', seq), 256)), 1, 8)) FROM {prefix}audit_log_before;
DROP TABLE IF EXISTS {prefix}audit_log_before;
-- The proof begins with the version that each object has.
UPDATE {prefix}audit_log entry
  JOIN (SELECT entry.stream, MAX(entry.seq) AS latest, MAX(one.created_at) AS created_at
    FROM {prefix}audit_log entry JOIN {prefix}schedule one ON one.id = entry.id AND one.version = entry.version
    WHERE entry.kind = 'schedule' AND entry.verb <> 'run' GROUP BY entry.stream) last ON last.stream = entry.stream AND last.latest = entry.seq
SET entry.incarnation = last.created_at, entry.pruned = entry.version > 1 WHERE entry.kind = 'schedule' AND entry.incarnation IS NULL;
UPDATE {prefix}audit_log entry
  JOIN (SELECT entry.stream, MAX(entry.seq) AS latest, MAX(one.created_at) AS created_at
    FROM {prefix}audit_log entry JOIN {prefix}job_definition one ON one.name = CONVERT(entry.id USING ascii) COLLATE ascii_bin AND one.version = entry.version
    WHERE entry.kind = 'job' AND entry.verb NOT IN ('run', 'pause', 'resume') GROUP BY entry.stream) last ON last.stream = entry.stream AND last.latest = entry.seq
SET entry.incarnation = last.created_at, entry.pruned = entry.version > 1 WHERE entry.kind = 'job' AND entry.incarnation IS NULL;
UPDATE {prefix}audit_log entry
  JOIN (SELECT entry.stream, MAX(entry.seq) AS latest, MAX(one.created_at) AS created_at
    FROM {prefix}audit_log entry JOIN {prefix}step_definition one ON one.name = CONVERT(entry.id USING ascii) COLLATE ascii_bin AND one.version = entry.version
    WHERE entry.kind = 'step' AND entry.verb <> 'run' GROUP BY entry.stream) last ON last.stream = entry.stream AND last.latest = entry.seq
SET entry.incarnation = last.created_at, entry.pruned = entry.version > 1 WHERE entry.kind = 'step' AND entry.incarnation IS NULL;
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 24);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 23;
DROP TABLE IF EXISTS {prefix}schedule_deleted;
