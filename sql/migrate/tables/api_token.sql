-- Tokens of the API. Only their hashes are kept. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}api_token (
  number       BIGINT UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'names it, in lists and in the audit',
  hash         BINARY(32) NOT NULL COMMENT 'SHA-256 of the token, which has 256 random bits',
  name         VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'who has it: the person of audit entries',
  role         VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'viewer, operator or admin',
  created_at   DATETIME(6) NOT NULL COMMENT 'UTC',
  expires_at   DATETIME(6) NOT NULL COMMENT 'UTC: from when on it is refused',
  revoked_at   DATETIME(6) NULL COMMENT 'UTC: from when on it was refused before that',
  last_used_at DATETIME(6) NULL COMMENT 'UTC: to a minute',
  PRIMARY KEY (number),
  -- For each request.
  UNIQUE KEY hash (hash),
  -- For serve, which starts at some addresses only where a token is good.
  KEY expires_at (expires_at),
  CONSTRAINT {prefix}api_token_role CHECK (role IN ('viewer', 'operator', 'admin'))
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: tokens of the API';
