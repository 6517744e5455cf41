package evidence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Claim is a row of claims: that a worker claimed a bucket. slot_run knows the last one alone.
type Claim struct {
	Slot    time.Time
	Bucket  int
	Buckets int // that the slot had
	Token   uint64
	Worker  string
	At      time.Time
	Of
}

// Of says whose ledger has a row, where shards were divided.
type Of struct {
	Keys Keys // that its buckets divide
	Era  int  // after how many divisions
}

// LaterThan says whether a claim came after another that had the same key. A bucket's tokens go up. Those of two buckets say
// nothing about one another: where a slot is divided, which gives it more of them, the new ones begin with none. So does a shard that took the
// place of another.
func (c Claim) LaterThan(other Claim) bool {
	if c.Era != other.Era {
		return c.Era > other.Era
	}
	if c.Buckets != other.Buckets {
		return c.Buckets > other.Buckets
	}
	return c.Token > other.Token
}

// Start is a row of starts: that an agent was given the long run of an occurrence. long_run knows the last one alone.
type Start struct {
	Schedule, Tag string
	Token         uint64
	Agent         string
	First         time.Time // when the run started for the first time
	At            time.Time
}

const (
	// The table claims has a row for each claim, which a trigger writes with it: a token that goes up, of a bucket that is held.
	createClaims = `CREATE TABLE IF NOT EXISTS {prefix}claims (slot DATETIME(6) NOT NULL, bucket INT NOT NULL, buckets INT NOT NULL, token BIGINT UNSIGNED NOT NULL,
		worker VARCHAR(255) NOT NULL, at DATETIME(6) NOT NULL, PRIMARY KEY (slot, bucket, token))`
	noteClaims = `CREATE TRIGGER {prefix}claimed AFTER UPDATE ON {prefix}slot_run FOR EACH ROW
		INSERT INTO {prefix}claims SELECT NEW.slot, NEW.bucket, NEW.buckets, NEW.token, NEW.worker, UTC_TIMESTAMP(6) FROM DUAL
		WHERE NEW.token > OLD.token AND NEW.allocated_until IS NOT NULL`
	allClaims = "SELECT slot, bucket, buckets, token, worker, at FROM {prefix}claims"
	// The table starts has a row for each start of a long run of a schedule: a token that is another, of a run that somebody has. A reshard is refused where a
	// column has what it says of characters from its table alone.
	createStarts = `CREATE TABLE IF NOT EXISTS {prefix}starts (job_key BINARY(16) NOT NULL, token BIGINT UNSIGNED NOT NULL, schedule VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, tag VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
		agent VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, first DATETIME(6) NOT NULL, at DATETIME(6) NOT NULL, PRIMARY KEY (job_key, token)) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`
	noteFirstStarts = `CREATE TRIGGER {prefix}started AFTER INSERT ON {prefix}long_run FOR EACH ROW
		INSERT INTO {prefix}starts SELECT NEW.job_key, NEW.token, NEW.schedule_id, NEW.occurrence, NEW.agent, NEW.started_at, NEW.called_at FROM DUAL
		WHERE NEW.schedule_id IS NOT NULL AND NEW.agent <> '' AND NEW.allocated_until IS NOT NULL`
	noteStarts = `CREATE TRIGGER {prefix}started_again AFTER UPDATE ON {prefix}long_run FOR EACH ROW
		INSERT INTO {prefix}starts SELECT NEW.job_key, NEW.token, NEW.schedule_id, NEW.occurrence, NEW.agent, NEW.started_at, NEW.called_at FROM DUAL
		WHERE NEW.schedule_id IS NOT NULL AND NEW.agent <> '' AND NEW.allocated_until IS NOT NULL AND NEW.token <> OLD.token
			AND NOT NEW.called_at <=> OLD.called_at` // a claim is no start yet
	allStarts  = "SELECT schedule, tag, token, agent, first, at FROM {prefix}starts ORDER BY at, token"
	lastClaims = "SELECT slot, bucket, buckets, token, worker, COALESCE(started_at, slot) FROM {prefix}slot_run WHERE token > 0"

	errNoSuchTable       = 1146
	errTableDenied       = 1142
	errTriggerNeedsSuper = 1419 // while there is a binlog, and log_bin_trust_function_creators is off
)

// Watch has the tables with a prefix note what they do not keep by themselves, and [Read] reads. Where the server has no
// triggers, as TiDB, or allows none to this account, Read finds the last claims alone.
func Watch(ctx context.Context, db *sql.DB, prefix string) error {
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return fmt.Errorf("having claims noted: %w", err)
	}
	if strings.Contains(version, "TiDB") {
		return nil
	}
	for _, statement := range []string{createClaims, noteClaims, createStarts, noteFirstStarts, noteStarts} {
		_, err := db.ExecContext(ctx, strings.ReplaceAll(statement, "{prefix}", prefix))
		if refusedWith(err, errTableDenied, errTriggerNeedsSuper) {
			_, err = db.ExecContext(ctx, "DROP TABLE IF EXISTS "+prefix+"claims, "+prefix+"starts")
		}
		if err != nil {
			return fmt.Errorf("having claims noted: %w", err)
		}
	}
	return nil
}

// readClaims reads all claims, or the last of each bucket where nothing noted them.
func readClaims(ctx context.Context, db *sql.DB, prefix string) (list []Claim, all bool, err error) {
	scan := func(rows *sql.Rows) error {
		var c Claim
		err := rows.Scan(&c.Slot, &c.Bucket, &c.Buckets, &c.Token, &c.Worker, &c.At)
		list = append(list, c)
		return err
	}
	err = each(ctx, db, strings.ReplaceAll(allClaims, "{prefix}", prefix), scan)
	if refusedWith(err, errNoSuchTable) {
		return list, false, each(ctx, db, strings.ReplaceAll(lastClaims, "{prefix}", prefix), scan)
	}
	return list, true, err
}

// readStarts reads all starts of the long runs of schedules; none where nothing noted them.
func readStarts(ctx context.Context, db *sql.DB, prefix string) (list []Start, err error) {
	err = each(ctx, db, strings.ReplaceAll(allStarts, "{prefix}", prefix), func(rows *sql.Rows) error {
		var s Start
		err := rows.Scan(&s.Schedule, &s.Tag, &s.Token, &s.Agent, &s.First, &s.At)
		list = append(list, s)
		return err
	})
	if refusedWith(err, errNoSuchTable) {
		return nil, nil
	}
	return list, err
}

// refusedWith says whether the server refused a statement with one of some numbers.
func refusedWith(err error, numbers ...uint16) bool {
	var refused *mysql.MySQLError
	return errors.As(err, &refused) && slices.Contains(numbers, refused.Number)
}
