-- What is wrong, by receiver: what each of them was told of it, and is to be told. One process of those that notify writes it. It has a row for each
-- code of doctor at most, however many checks, job_execs or topics are affected. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}finding (
  code          VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'as doctor names it; notify for receivers that cannot be told',
  receiver      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'its name in notify.receivers',
  severity      ENUM('warn', 'bad') CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'that of the worst finding of the code',
  found         INT UNSIGNED NOT NULL COMMENT 'how many findings of the code there are',
  names         JSON NOT NULL COMMENT 'what they are about, up to 20 names, each with since when: {"export": "2026-11-20T13:00:00Z"}',
  text          VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'what is wrong',
  remedy        VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'what to do',
  seen_since    DATETIME(6) NOT NULL COMMENT 'UTC: since when it is seen',
  bad_since     DATETIME(6) NULL COMMENT 'UTC: since when it is bad; NULL where it is not',
  gone_since    DATETIME(6) NULL COMMENT 'UTC: since when it is not seen any more; NULL where it is',
  looked_at     DATETIME(6) NOT NULL COMMENT 'UTC: when it was looked for, to 10 minutes',
  told_at       DATETIME(6) NULL COMMENT 'UTC: when the receiver was told last; NULL where it knows nothing of it',
  told_severity ENUM('warn', 'bad') CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'the worst that it was told',
  told_found    INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'how many findings it was told of',
  told_names    JSON NULL COMMENT 'the names that it was told, up to 20: ["export"]',
  message       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'id of the message by which it is to be told, until that is acknowledged; others of the receiver may have the same',
  message_kind  ENUM('new', 'worse', 'more', 'reminder', 'over') CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'what that says of it',
  PRIMARY KEY (code, receiver),
  CONSTRAINT {prefix}finding_told CHECK ((told_at IS NULL) = (told_severity IS NULL)),
  CONSTRAINT {prefix}finding_message CHECK ((message IS NULL) = (message_kind IS NULL))
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: what is wrong, and who was told';
