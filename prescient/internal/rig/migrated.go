package rig

import (
	"context"
	"database/sql"
	"strings"
	"sync"

	"github.com/jmoiron/sqlx"

	text "prescient/sql"
	"prescient/sql/migrate"
)

// migrate makes the tables: by the migrations once for each server; databases after that get at once what they
// make. Some of it they make twice, and to read them takes more processor time than most tests do, under the race detector.
func (r *Rig) migrate(like server) {
	r.T.Helper()
	db := r.D.Open(r.T, "interpolateParams=true")
	defer db.Close()
	to := migratedTo(like)
	to.mu.Lock()
	if to.statements == nil {
		defer to.mu.Unlock()
		_, err := migrate.Up(r.T.Context(), db, like.schema)
		r.Must(err)
		r.describe(db, like.schema, to)
		return
	}
	to.mu.Unlock() // nothing changes them from here on
	for _, s := range to.statements {
		_, err := db.ExecContext(r.T.Context(), s.query, s.args...)
		r.Must(err)
	}
}

// describe notes what the migrations have made of a database.
func (r *Rig) describe(db *sql.DB, schema migrate.Schema, to *made) {
	r.T.Helper()
	ctx := r.T.Context()
	to.rows = make(map[string]statement)
	for table := range tally(r.T, db, "SELECT table_name, 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'") {
		var name, create string
		r.Must(db.QueryRowContext(ctx, "SHOW CREATE TABLE "+table).Scan(&name, &create))
		rows, err := contents(ctx, db, table)
		r.Must(err)
		to.rows[table] = rows
		to.statements = append(to.statements, statement{query: create})
		if rows.query != "" {
			to.statements = append(to.statements, rows)
		}
	}
	objects, err := schema.Objects()
	r.Must(err)
	for _, object := range objects {
		to.statements = append(to.statements, statement{query: object.Create})
	}
	if r.Server == text.TiDB {
		return // nothing is given back there
	}
	all := r.D.Open(r.T, "multiStatements=true")
	defer all.Close()
	conn, err := all.Conn(ctx)
	r.Must(err)
	defer conn.Close()
	to.shape, err = shapeOf(ctx, conn, r.D.Name)
	r.Must(err)
}

// contents returns the statement that fills a table as it is, none where it has no rows.
func contents(ctx context.Context, db querier, table string) (all statement, err error) {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+table)
	if err != nil {
		return statement{}, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return statement{}, err
	}
	row := "(?" + strings.Repeat(", ?", len(columns)-1) + ")"
	for rows.Next() {
		values, err := sqlx.SliceScan(rows)
		if err != nil {
			return statement{}, err
		}
		for i, value := range values {
			if value, is := value.([]byte); is {
				values[i] = string(value)
			}
		}
		if all.query != "" {
			all.query += ", " + row
		} else {
			all.query = "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES " + row
		}
		all.args = append(all.args, values...)
	}
	return all, rows.Err()
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
	rows       map[string]statement // what fills each table, if anything
	shape      string               // of all but rows
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
