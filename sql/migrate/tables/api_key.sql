-- What requests with an idempotency key were answered, for 24 hours. Deeds of the API write it in their own transactions. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}api_key (
  token           BIGINT UNSIGNED NOT NULL COMMENT 'who asked: the number of a token; 0 for nobody',
  idempotency_key VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'as the request gave it',
  operation       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'what was asked for, as in checks.cancel',
  body            BINARY(32) NOT NULL COMMENT 'SHA-256 of the operation and the request',
  answer          MEDIUMBLOB NULL COMMENT 'what it was answered, as JSON',
  at              DATETIME(6) NOT NULL COMMENT 'UTC: when',
  PRIMARY KEY (token, idempotency_key),
  -- For who forgets those that are old.
  KEY at (at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: answers of idempotency keys';
