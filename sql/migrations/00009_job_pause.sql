-- What is paused: a row for each job_exec, or for everything. Workers read it with their look at a slot.
-- Locks and copies nothing: the table is new.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS {prefix}job_pause (
  job_exec  VARCHAR(64)   CHARACTER SET ascii   COLLATE ascii_bin   NOT NULL COMMENT '* is everything',
  since     DATETIME(6)   NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
  paused_by VARCHAR(128)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  reason    VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  PRIMARY KEY (job_exec)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: what is paused';

-- +goose Down
DROP TABLE IF EXISTS {prefix}job_pause;
