-- The audit: an entry for each change that somebody made, written in the transaction of the change. Nobody but the owner changes or deletes one.
-- The key is the time and a random id, which the table fills in, as it does the account: the roles may not give them, and nobody waits for
-- another's entry. A stream is that of an object, by kind and id. An entry that made a version of a schedule, a job or a shared step has
-- the incarnation of it, which tells it from one of its name that was deleted: so a version without an entry shows.
-- The first entry says since when there is an audit. In the dialect plain whoever writes an entry gives its time, its id and its account.
CREATE TABLE IF NOT EXISTS {prefix}audit_log (
  at            DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)) COMMENT 'UTC', -- only full
  at            DATETIME(6) NOT NULL COMMENT 'UTC', -- only plain
  stream        BINARY(16) NOT NULL COMMENT 'hash of kind and id',
  kind          VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'of the object, such as schedule',
  id            VARCHAR(400) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  verb          VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'what was done, such as create',
  version       BIGINT UNSIGNED NULL COMMENT 'of the object, after the change; NULL where it has none',
  account       VARCHAR(320) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT (USER()) COMMENT 'of the database, and from which host', -- only full
  account       VARCHAR(320) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'of the database, and from which host', -- only plain
  person        VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'as it was given',
  host          VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'of the program',
  program       VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  command       VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'or other door; empty for the library',
  reason        VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'as it was given',
  before_change MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'JSON; NULL for nothing',
  after_change  MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'JSON; NULL for nothing',
  pruned        BOOLEAN NOT NULL DEFAULT 0 COMMENT 'the entries before it in its stream were pruned',
  entry         BINARY(8) NOT NULL DEFAULT (RANDOM_BYTES(8)) COMMENT 'random', -- only full
  entry         BINARY(8) NOT NULL COMMENT 'random', -- only plain
  incarnation   DATETIME(6) NULL COMMENT 'created_at of the object whose version it made; NULL where it made none',
  -- For lists and prune, by time.
  PRIMARY KEY (at, entry),
  -- For lists of an object, and the look for the first entry.
  KEY stream (stream, at),
  -- For the proof that no version lacks its entry.
  KEY incarnation (stream, incarnation, version, pruned),
  CONSTRAINT {prefix}audit_log_stream CHECK (stream = SUBSTRING(UNHEX(SHA2(CONCAT(kind, UNHEX('00'), CAST(id AS BINARY)), 256)), 1, 16)),
  CONSTRAINT {prefix}audit_log_bounds CHECK (LENGTH(kind) > 0 AND LENGTH(id) > 0 AND LENGTH(verb) > 0 AND LENGTH(before_change) <= 65536
    AND LENGTH(after_change) <= 65536),
  CONSTRAINT {prefix}audit_log_dated CHECK (incarnation >= TIMESTAMP'1000-01-01 00:00:00')
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: what was changed, by whom and why';

INSERT INTO {prefix}audit_log (at, account, entry, stream, kind, id, verb)
SELECT UTC_TIMESTAMP(6), USER(), RANDOM_BYTES(8), {installation}, 'installation', 'prescient', 'begin' FROM DUAL
WHERE NOT EXISTS (SELECT 1 FROM {prefix}audit_log entry WHERE entry.stream = {installation});
