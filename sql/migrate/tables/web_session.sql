-- Sessions of people on the page. Only the hashes of what browsers send are kept. serve writes it. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}web_session (
  number     BIGINT UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'names it, in lists',
  hash       BINARY(32) NOT NULL COMMENT 'SHA-256 of what the browser sends, which has 256 random bits',
  person     VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'whose it is: of web_user, or whom the provider named',
  role       VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL COMMENT 'what the provider said; NULL for that of web_user',
  host       VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'where it was begun from',
  data       VARBINARY(1024) NOT NULL COMMENT 'JSON: what is remembered in it',
  created_at DATETIME(6) NOT NULL COMMENT 'UTC',
  ends_at    DATETIME(6) NOT NULL COMMENT 'UTC: from when on it is over',
  PRIMARY KEY (number),
  -- For each request.
  UNIQUE KEY hash (hash),
  -- For who ends those of a person, and for their number.
  KEY person (person),
  -- For who forgets those that are over.
  KEY ends_at (ends_at),
  CONSTRAINT {prefix}web_session_role CHECK (role IN ('viewer', 'operator', 'admin')),
  CONSTRAINT {prefix}web_session_named CHECK (person NOT REGEXP '^$|^ | $|[[:cntrl:]]'),
  CONSTRAINT {prefix}web_session_dated CHECK (created_at >= TIMESTAMP'1000-01-01 00:00:00' AND ends_at > created_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: sessions of people on the page';
