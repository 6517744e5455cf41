-- Steps that several jobs share, as JSON. People who define jobs write it.
CREATE TABLE IF NOT EXISTS {prefix}step_definition (
  name       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version    BIGINT UNSIGNED NOT NULL COMMENT 'rises with every change',
  definition MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL COMMENT 'JSON',
  created_at DATETIME(6) NOT NULL COMMENT 'UTC',
  updated_at DATETIME(6) NOT NULL COMMENT 'UTC',
  PRIMARY KEY (name),
  CONSTRAINT {prefix}step_definition_named CHECK (LENGTH(name) > 0 AND name NOT REGEXP '[^A-Za-z0-9_.-]' AND version > 0),
  CONSTRAINT {prefix}step_definition_bounded CHECK (definition LIKE '{%}' AND LENGTH(definition) <= 131072),
  CONSTRAINT {prefix}step_definition_dated CHECK (created_at >= TIMESTAMP'1000-01-01 00:00:00'
    AND updated_at >= TIMESTAMP'1000-01-01 00:00:00')
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: steps that jobs share';
