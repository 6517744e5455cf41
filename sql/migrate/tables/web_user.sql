-- People who sign in to the page by a password of their own. Admins write it; who signs in changes the own password. The same in the dialect plain.
CREATE TABLE IF NOT EXISTS {prefix}web_user (
  name         VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'who it is: the person of audit entries',
  role         VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'viewer, operator or admin',
  password     VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'argon2id of the password, with its salt: $argon2id$v=19$…',
  created_at   DATETIME(6) NOT NULL COMMENT 'UTC',
  changed_at   DATETIME(6) NOT NULL COMMENT 'UTC: of the password; sessions that began before it are over',
  disabled_at  DATETIME(6) NULL COMMENT 'UTC: since when nobody signs in by it; sessions are over',
  last_used_at DATETIME(6) NULL COMMENT 'UTC: to a minute',
  PRIMARY KEY (name),
  CONSTRAINT {prefix}web_user_role CHECK (role IN ('viewer', 'operator', 'admin')),
  CONSTRAINT {prefix}web_user_named CHECK (name NOT REGEXP '^$|^ | $|[[:cntrl:]]'),
  CONSTRAINT {prefix}web_user_hashed CHECK (password LIKE '$argon2id$v=19$m=%'),
  CONSTRAINT {prefix}web_user_dated CHECK (created_at >= TIMESTAMP'1000-01-01 00:00:00' AND changed_at >= TIMESTAMP'1000-01-01 00:00:00')
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: people who sign in to the page';
