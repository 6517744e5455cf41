package rig

import (
	"database/sql"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/sql/migrate"
)

// migrate makes the tables: by the migrations once for each server; databases after that get at once what they
// make. Some of it they make twice, and to read them takes more processor time than most tests do, under the race detector.
func (r *Rig) migrate(schema migrate.Schema) {
	r.T.Helper()
	config, err := mysql.ParseDSN(r.D.DSN)
	r.Must(err)
	db := r.D.Open(r.T, "interpolateParams=true")
	defer db.Close()
	to := migratedTo(server{config.Net, config.Addr, schema})
	to.mu.Lock()
	if to.statements == nil {
		defer to.mu.Unlock()
		_, err := migrate.Up(r.T.Context(), db, schema)
		r.Must(err)
		to.statements = r.described(db, schema)
		return
	}
	to.mu.Unlock() // nothing changes them from here on
	for _, s := range to.statements {
		_, err := db.ExecContext(r.T.Context(), s.query, s.args...)
		r.Must(err)
	}
}

// described returns the statements that make what the migrations have made of a database.
func (r *Rig) described(db *sql.DB, schema migrate.Schema) (statements []statement) {
	r.T.Helper()
	for table := range tally(r.T, db, "SELECT table_name, 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'") {
		var name, create string
		r.Must(db.QueryRowContext(r.T.Context(), "SHOW CREATE TABLE "+table).Scan(&name, &create))
		statements = append(statements, statement{query: create})
		if all, some := r.contents(db, table); some {
			statements = append(statements, all)
		}
	}
	objects, err := schema.Objects()
	r.Must(err)
	for _, object := range objects {
		statements = append(statements, statement{query: object.Create})
	}
	return statements
}

// contents returns the statement that fills a table as it is, where it has rows.
func (r *Rig) contents(db *sql.DB, table string) (all statement, some bool) {
	r.T.Helper()
	rows, err := sqlx.NewDb(db, "mysql").QueryxContext(r.T.Context(), "SELECT * FROM "+table)
	r.Must(err)
	defer rows.Close()
	columns, err := rows.Columns()
	r.Must(err)
	row := "(?" + strings.Repeat(", ?", len(columns)-1) + ")"
	for rows.Next() {
		values, err := rows.SliceScan()
		r.Must(err)
		for i, value := range values {
			if text, is := value.([]byte); is {
				values[i] = string(text)
			}
		}
		if some {
			all.query += ", " + row
		} else {
			all.query, some = "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES "+row, true
		}
		all.args = append(all.args, values...)
	}
	r.Must(rows.Err())
	return all, some
}

// server is one, and what tables of it are migrated to.
type server struct {
	network, address string
	schema           migrate.Schema
}

// made are the statements that make what the migrations make of an empty database; none before the first.
type made struct {
	mu         sync.Mutex // held while they are worked out
	statements []statement
}

type statement struct {
	query string
	args  []any
}

var (
	migratedMu sync.Mutex
	migrated   = make(map[server]*made)
)

func migratedTo(s server) *made {
	migratedMu.Lock()
	defer migratedMu.Unlock()
	if migrated[s] == nil {
		migrated[s] = new(made)
	}
	return migrated[s]
}
