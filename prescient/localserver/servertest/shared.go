package servertest

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"
)

// sharedVariable says that the servers go with a run of tests, all of the same code, so that what one process of it has made is for the
// others, too. Set by scripts/servers.
const sharedVariable = "PRESCIENT_TEST_SHARED"

// mayShare says that they do. A test that is run by its whole name, as one that failed beside others is once more, has a database of its own: what
// it fails for there nobody has left behind.
func mayShare() bool {
	return os.Getenv(sharedVariable) != "" && !strings.HasPrefix(flag.Lookup("test.run").Value.String(), "^")
}

// shared is what the processes of a run share on the server of a DSN: databases that no test has, and how each kind of them is made.
type shared struct{ dsn string }

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

// sharers are the addresses of servers that have the tables.
var sharers sync.Map

// on runs do on a connection, once the tables are there.
func (s shared) on(ctx context.Context, do func(db *sql.DB) error) error {
	config, err := mysql.ParseDSN(s.dsn)
	if err != nil {
		return err
	}
	config.DBName, config.MultiStatements, config.InterpolateParams = "", true, true
	db, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		return err
	}
	defer db.Close()
	if _, there := sharers.LoadOrStore(config.Addr, true); !there {
		if _, err := db.ExecContext(ctx, makeShared); err != nil {
			sharers.Delete(config.Addr)
			return fmt.Errorf("making the tables of what is shared: %w", err)
		}
	}
	return do(db)
}

// take takes a database that no test has, if there is one like this.
func (s shared) take(ctx context.Context, alike string) (name string, accounts []byte, is bool, err error) {
	err = s.on(ctx, func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // once it is committed, it says so
		if err := tx.QueryRowContext(ctx, findFree, alike).Scan(&name, &accounts); errors.Is(err, sql.ErrNoRows) {
			return nil
		} else if err != nil {
			return fmt.Errorf("looking for a database that is shared: %w", err)
		}
		if _, err := tx.ExecContext(ctx, removeFree, name); err != nil {
			return fmt.Errorf("taking a database that is shared: %w", err)
		}
		is = true
		return tx.Commit()
	})
	return name, accounts, is, err
}

// give lets tests of other processes have a database.
func (s shared) give(ctx context.Context, alike, name string, accounts []byte) error {
	return s.exec(ctx, noteFree, name, alike, accounts)
}

// made reads how databases like this are made; nil where no process has told it.
func (s shared) made(ctx context.Context, alike string) (how []byte, err error) {
	err = s.on(ctx, func(db *sql.DB) error {
		err := db.QueryRowContext(ctx, readMade, alike).Scan(&how)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return how, err
}

// tell tells others how databases like this are made.
func (s shared) tell(ctx context.Context, alike string, how []byte) error {
	return s.exec(ctx, noteMade, alike, how)
}

func (s shared) exec(ctx context.Context, statement string, args ...any) error {
	return s.on(ctx, func(db *sql.DB) error {
		if _, err := db.ExecContext(ctx, statement, args...); err != nil {
			return fmt.Errorf("telling what is shared: %w", err)
		}
		return nil
	})
}
