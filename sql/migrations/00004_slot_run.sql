-- The ledger: one row for every bucket of every slot that was served. It holds the lease, the fencing token and the
-- books. allocated_until is NULL while nobody holds the bucket; a claim that finds it lapsed is a takeover. The first to open
-- a slot fixes buckets, but a slot that was opened as one bucket may be divided later (slotrun/divide).
-- Locks and copies nothing: the table is new.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS {prefix}slot_run (
  slot             DATETIME          NOT NULL,
  bucket           SMALLINT UNSIGNED NOT NULL,
  buckets          SMALLINT UNSIGNED NOT NULL COMMENT 'how many the slot has; fixed by the first to open it',
  token            BIGINT UNSIGNED   NOT NULL DEFAULT 0 COMMENT 'raised by every claim',
  batch_seq        BIGINT UNSIGNED   NOT NULL DEFAULT 0 COMMENT 'raised by every commit',
  worker           VARCHAR(64)       CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  allocated_until  DATETIME(6)       NULL,
  takeovers        INT UNSIGNED      NOT NULL DEFAULT 0,
  attempt_key      BINARY(16)        NULL COMMENT 'the row that is run by itself, after two takeovers',
  attempt_revision BIGINT UNSIGNED   NULL,
  moved            BIGINT UNSIGNED   NOT NULL DEFAULT 0 COMMENT 'rows that went to a later slot after a call',
  put_off          BIGINT UNSIGNED   NOT NULL DEFAULT 0 COMMENT 'rows that went to a later slot without one',
  done             BIGINT UNSIGNED   NOT NULL DEFAULT 0,
  max_checks       BIGINT UNSIGNED   NOT NULL DEFAULT 0,
  past_return      BIGINT UNSIGNED   NOT NULL DEFAULT 0,
  beyond_horizon   BIGINT UNSIGNED   NOT NULL DEFAULT 0,
  failed           BIGINT UNSIGNED   NOT NULL DEFAULT 0,
  timed_out        BIGINT UNSIGNED   NOT NULL DEFAULT 0,
  crashed          BIGINT UNSIGNED   NOT NULL DEFAULT 0,
  dropped          BIGINT UNSIGNED   NOT NULL DEFAULT 0 COMMENT 'answers thrown away: the app had changed the row',
  started_at       DATETIME(6)       NULL,
  finished_at      DATETIME(6)       NULL,
  PRIMARY KEY (slot, bucket)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: slot runs, their leases and books';

-- +goose Down
DROP TABLE IF EXISTS {prefix}slot_run;
