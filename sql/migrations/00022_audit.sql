-- The audit: an entry for each change that somebody made, written in the transaction of the change.
-- An entry has a stream, which is that of its object (kind and id), and a number in it: 1, 2, 3 and so on. So nobody waits for the entry
-- of another object, and a missing one shows as a gap. When and by which account are filled in by the table, and the roles may not give them.
-- Locks and copies nothing: the table is new. Its first entry says since when there is an audit.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS {prefix}audit_log (
  at            DATETIME(6)   NOT NULL DEFAULT (UTC_TIMESTAMP(6)) COMMENT 'UTC',
  stream        BINARY(16)    NOT NULL COMMENT 'hash of kind and id',
  seq           INT UNSIGNED  NOT NULL COMMENT 'counts the entries of the stream from 1, without a gap',
  kind          VARCHAR(32)   CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL COMMENT 'of the object, such as schedule',
  id            VARCHAR(400)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  verb          VARCHAR(32)   CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL COMMENT 'what was done, such as create',
  version       INT UNSIGNED  NULL COMMENT 'of the object, after the change; NULL where it has none',
  account       VARCHAR(320)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT (USER()) COMMENT 'of the database, and from which host',
  person        VARCHAR(128)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'as it was given',
  host          VARCHAR(255)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'of the program',
  program       VARCHAR(128)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  command       VARCHAR(128)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'or other door; empty for the library',
  reason        VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '' COMMENT 'as it was given',
  before_change MEDIUMTEXT    CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'JSON; NULL for nothing',
  after_change  MEDIUMTEXT    CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL COMMENT 'JSON; NULL for nothing',
  pruned        BOOLEAN       NOT NULL DEFAULT 0 COMMENT 'the entries before it in its stream were pruned',
  PRIMARY KEY (at, stream, seq),
  UNIQUE KEY stream (stream, seq)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: what was changed, by whom and why';
INSERT IGNORE INTO {prefix}audit_log (stream, seq, kind, id, verb)
VALUES (SUBSTRING(UNHEX(SHA2(CONCAT('installation', UNHEX('00'), 'prescient'), 256)), 1, 16), 1, 'installation', 'prescient', 'begin');
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 22);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 21;
DROP TABLE IF EXISTS {prefix}audit_log;
