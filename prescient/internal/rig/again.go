package rig

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"prescient/prescient/internal/errno"
	"prescient/prescient/localserver/servertest"
	text "prescient/sql"
)

// giveBack lets the next test have the database, where this one was well, changed rows alone, and left nobody connected. Tables that were
// written are as new then: no row, no number that was counted up, no statistics.
func (r *Rig) giveBack(like server) {
	if r.T.Failed() || r.Server == text.TiDB {
		return
	}
	r.D.Keep(like, func() bool {
		db, err := sql.Open("mysql", servertest.WithParams(r.D.DSN, "multiStatements=true&interpolateParams=true"))
		if err != nil {
			return false
		}
		defer db.Close()
		ctx := context.Background()
		conn, err := db.Conn(ctx)
		if err != nil {
			return false
		}
		defer conn.Close()
		clean, err := r.clean(ctx, conn, migratedTo(like))
		return err == nil && clean
	})
}

// clean says whether all is as it was made, once tables that were written have been emptied.
func (r *Rig) clean(ctx context.Context, conn *sql.Conn, to *made) (bool, error) {
	if alone, err := alone(ctx, conn); err != nil || !alone {
		return false, err
	}
	shape, err := shapeOf(ctx, conn, r.D.Name)
	if err != nil || shape != to.shape {
		return false, err
	}
	if r.Server == text.MySQL {
		if _, err := conn.ExecContext(ctx, "SET SESSION information_schema_stats_expiry = 0"); err != nil {
			return false, err
		}
	}
	written, err := texts(ctx, conn, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND update_time IS NOT NULL")
	if err != nil {
		return false, err
	}
	var look []string
	for table := range to.rows {
		look = append(look, fmt.Sprintf("SELECT '%s' FROM DUAL WHERE EXISTS (SELECT 1 FROM %[1]s)", table))
	}
	filled, err := texts(ctx, conn, strings.Join(look, " UNION ALL "))
	if err != nil {
		return false, err
	}
	if _, err := conn.ExecContext(ctx, "SET lock_wait_timeout = 1"); err != nil {
		return false, err
	}
	for table, rows := range to.rows {
		if !slices.Contains(strings.Fields(written+filled), table) {
			continue
		}
		if rows.query != "" {
			if is, err := contents(ctx, conn, table); err != nil {
				return false, err
			} else if slices.Equal(is.args, rows.args) {
				continue
			}
		}
		if _, err := conn.ExecContext(ctx, "TRUNCATE TABLE "+table); err != nil {
			return false, err
		}
		if rows.query != "" {
			if _, err := conn.ExecContext(ctx, rows.query, rows.args...); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// alone waits until the server has noticed that the test's connections are closed, for as long as that may take.
func alone(ctx context.Context, conn *sql.Conn) (bool, error) {
	for wait := time.Millisecond; wait < time.Second; wait *= 2 {
		others, err := texts(ctx, conn, "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()")
		if !errno.Is(err, errno.NotShown) && (err != nil || others == "") {
			return err == nil, err
		}
		time.Sleep(wait)
	}
	return false, nil
}

// counted is what SHOW CREATE TABLE says of how far a table has counted, which emptying it takes back.
var counted = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// shapeOf tells all that a database has but for rows.
func shapeOf(ctx context.Context, conn *sql.Conn, database string) (string, error) {
	names, err := texts(ctx, conn, `SELECT CASE table_type WHEN 'BASE TABLE' THEN 'TABLE' ELSE table_type END, table_name
		FROM information_schema.tables WHERE table_schema = DATABASE()
		UNION ALL SELECT routine_type, routine_name FROM information_schema.routines WHERE routine_schema = DATABASE() ORDER BY 1, 2`)
	if err != nil {
		return "", err
	}
	show := []string{"SHOW TRIGGERS", "SHOW EVENTS", "SHOW CREATE DATABASE " + database}
	for object := range strings.Lines(names) {
		show = append(show, "SHOW CREATE "+strings.TrimSpace(object))
	}
	all, err := texts(ctx, conn, strings.Join(show, "; "))
	return strings.ReplaceAll(counted.ReplaceAllString(all, ""), database, "DATABASE"), err
}

// texts reads all rows of all results, a line for each.
func texts(ctx context.Context, conn *sql.Conn, query string) (string, error) {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var b strings.Builder
	for {
		columns, err := rows.Columns()
		if err != nil {
			return "", err
		}
		values, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return "", err
			}
			for _, value := range values {
				b.Write(value)
				b.WriteByte(' ')
			}
			b.WriteByte('\n')
		}
		if !rows.NextResultSet() {
			return b.String(), rows.Err()
		}
	}
}
