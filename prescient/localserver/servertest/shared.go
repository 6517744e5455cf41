package servertest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/go-sql-driver/mysql"
)

// sharedVariable says that the servers go with a run of tests, all of the same code, so that what one process of it has made is for the
// others, too. Set by scripts/servers.
const sharedVariable = "PRESCIENT_TEST_SHARED"

// The databases that no test has, and how each of a kind was made, stand in tables of the server's.
const (
	makeShared = `CREATE DATABASE IF NOT EXISTS px_shared CHARACTER SET utf8mb4;
		CREATE TABLE IF NOT EXISTS px_shared.made (alike CHAR(64) CHARACTER SET ascii PRIMARY KEY, how LONGBLOB NOT NULL) ENGINE = InnoDB;
		CREATE TABLE IF NOT EXISTS px_shared.free (name VARCHAR(64) CHARACTER SET ascii PRIMARY KEY, alike CHAR(64) CHARACTER SET ascii NOT NULL,
			accounts LONGBLOB NOT NULL, INDEX (alike)) ENGINE = InnoDB`
	readMade   = "SELECT how FROM px_shared.made WHERE alike = ?"
	noteMade   = "INSERT IGNORE INTO px_shared.made (alike, how) VALUES (?, ?)"
	noteFree   = "INSERT INTO px_shared.free (name, alike, accounts) VALUES (?, ?, ?)"
	findFree   = "SELECT name, accounts FROM px_shared.free WHERE alike = ? LIMIT 1 FOR UPDATE SKIP LOCKED"
	removeFree = "DELETE FROM px_shared.free WHERE name = ?"
)

// isShared says whether processes of a run share what is like this: they have the same migrations, and no server of a process's own.
func (l like) isShared() bool {
	return os.Getenv(sharedVariable) != "" && l.server == nil && l.schema.Set == nil && l.schema.Watch == nil
}

// digest names what is alike for all processes.
func (l like) digest() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %v %q %q %v", l.by, l.schema.Prefix, l.schema.Resolution, l.schema.Dialect, l.schema.Server, l.schema.Patience))
	return hex.EncodeToString(sum[:])
}

// shared connects to the tables of what is shared, and makes them where this process comes first.
func (d Database) shared(ctx context.Context) (conn *sql.Conn, disconnect func(), err error) {
	config, err := mysql.ParseDSN(d.DSN)
	if err != nil {
		return nil, nil, err
	}
	config.DBName = ""
	conn, disconnect, err = Database{DSN: config.FormatDSN()}.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	if _, there := sharers.LoadOrStore(config.Addr, true); !there {
		if _, err := conn.ExecContext(ctx, makeShared); err != nil {
			disconnect()
			return nil, nil, fmt.Errorf("making the tables of what is shared: %w", err)
		}
	}
	return conn, disconnect, nil
}

// takeShared takes a database that no test has, if there is one like this.
func (d Database) takeShared(ctx context.Context, as like) (used Database, is bool, err error) {
	if !as.isShared() {
		return Database{}, false, nil
	}
	conn, disconnect, err := d.shared(ctx)
	if err != nil {
		return Database{}, false, err
	}
	defer disconnect()
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return Database{}, false, err
	}
	defer func() { _ = tx.Rollback() }() // once it is committed, it says so
	var accounts []byte
	used = d
	used.own = &owned{}
	if err := tx.QueryRowContext(ctx, findFree, as.digest()).Scan(&used.Name, &accounts); errors.Is(err, sql.ErrNoRows) {
		return Database{}, false, nil
	} else if err != nil {
		return Database{}, false, fmt.Errorf("looking for a database that is shared: %w", err)
	}
	if _, err := tx.ExecContext(ctx, removeFree, used.Name); err != nil {
		return Database{}, false, fmt.Errorf("taking a database that is shared: %w", err)
	}
	if err := json.Unmarshal(accounts, &used.own.accounts); err != nil {
		return Database{}, false, err
	}
	config, err := mysql.ParseDSN(d.DSN)
	if err != nil {
		return Database{}, false, err
	}
	config.DBName = used.Name
	used.DSN = config.FormatDSN()
	return used, true, tx.Commit()
}

// share lets tests of other processes have a database.
func (d Database) share(as like) error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
	defer cancel()
	accounts, err := json.Marshal(d.own.accounts)
	if err != nil {
		return err
	}
	return d.inShared(ctx, noteFree, d.Name, as.digest(), accounts)
}

// told reads how databases like this are made, where a process has told it.
func (d Database) told(ctx context.Context, as like, to *made) (bool, error) {
	if !as.isShared() {
		return false, nil
	}
	conn, disconnect, err := d.shared(ctx)
	if err != nil {
		return false, err
	}
	defer disconnect()
	var how []byte
	if err := conn.QueryRowContext(ctx, readMade, as.digest()).Scan(&how); errors.Is(err, sql.ErrNoRows) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("reading how a database is made: %w", err)
	}
	return true, json.Unmarshal(how, to)
}

// tell tells others how databases like this are made.
func (d Database) tell(ctx context.Context, as like, to *made) error {
	if !as.isShared() {
		return nil
	}
	how, err := json.Marshal(to)
	if err != nil {
		return err
	}
	return d.inShared(ctx, noteMade, as.digest(), how)
}

func (d Database) inShared(ctx context.Context, statement string, args ...any) error {
	conn, disconnect, err := d.shared(ctx)
	if err != nil {
		return err
	}
	defer disconnect()
	if _, err := conn.ExecContext(ctx, statement, args...); err != nil {
		return fmt.Errorf("telling what is shared: %w", err)
	}
	return nil
}
