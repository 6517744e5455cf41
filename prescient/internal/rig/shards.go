package rig

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/localserver/servertest"
)

// Shards are the pools of a role as workers have them: one for each shard where rows are divided among several, and else that of As.
func (r *Rig) Shards(role string, now time.Time) (list []*sqlx.DB) {
	r.T.Helper()
	parts := r.D.Parts()
	if len(parts) == 1 {
		return []*sqlx.DB{r.As(role, now)}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, part := range parts {
		dsn := part.DSN
		if !now.IsZero() {
			dsn = servertest.WithParams(dsn, part.Clock(now))
		}
		key := role + " " + dsn
		if r.pools[key] == nil {
			r.pools[key] = r.open(dsn)
		}
		list = append(list, r.pools[key])
	}
	return list
}

func (r *Rig) open(dsn string) *sqlx.DB {
	r.T.Helper()
	db, err := r.opener.Open(dsn, 0)
	r.Must(err)
	r.T.Cleanup(func() { _ = db.Close() })
	return db
}

// rootOfShards are root's pools of all shards: Root, where there is but one.
func (r *Rig) rootOfShards() (list []*sql.DB) {
	r.T.Helper()
	parts := r.D.Parts()
	if len(parts) == 1 {
		return []*sql.DB{r.Root}
	}
	for i, part := range parts {
		db := servertest.Open(r.T, part.Root, "")
		list = append(list, db)
		r.T.Cleanup(func() { r.lieOn(db, i) })
	}
	return list
}

// OfShards is Count of what each shard has for itself: the sum of all.
func (r *Rig) OfShards(query string, args ...any) (all int) {
	r.T.Helper()
	for _, db := range r.behind {
		var n int
		r.Must(db.QueryRow(query, args...).Scan(&n))
		all += n
	}
	return all
}

// lieOn checks that all rows of a shard, the first or the second of two, are those that it is to have.
func (r *Rig) lieOn(db *sql.DB, shard int) {
	r.T.Helper()
	columns, err := db.Query(`SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name LIKE 'p\_%'
		AND (column_name = 'place' OR column_name = 'job_key' AND table_name <> 'p_rule')`)
	r.Must(err)
	defer columns.Close()
	for columns.Next() {
		var table, column string
		r.Must(columns.Scan(&table, &column))
		query := fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE COALESCE(%[2]s >= X'80' <> ?, TRUE)", table, column)
		if table == "p_audit_log" {
			query += " AND kind <> 'installation'" // which each has
		}
		var n int
		r.Must(db.QueryRow(query, shard == 1).Scan(&n))
		if n > 0 {
			r.T.Errorf("%d rows of %s lie on another shard than their %s", n, table, column)
		}
	}
	r.Must(columns.Err())
}

// Exec sends a statement as root: to each shard, but rows that it inserts only where they belong.
func (r *Rig) Exec(query string, args ...any) {
	r.T.Helper()
	on := r.behind
	if strings.HasPrefix(query, "INSERT") && strings.Contains(query, "VALUES") {
		on = []*sql.DB{r.Root}
	}
	for _, db := range on {
		_, err := db.ExecContext(context.WithoutCancel(r.T.Context()), query, args...)
		r.Must(err)
	}
}
