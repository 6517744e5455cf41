package condition

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
)

const (
	// selectColumn and selectIndexes read what the server knows of one table.
	selectColumn = `
SELECT c.DATA_TYPE AS type, c.COLUMN_TYPE AS whole, IFNULL(c.CHARACTER_SET_NAME, '') AS charset, t.TABLE_TYPE AS kind
FROM information_schema.COLUMNS AS c
JOIN information_schema.TABLES AS t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
WHERE c.TABLE_SCHEMA = ? AND c.TABLE_NAME = ? AND c.COLUMN_NAME = ? AND t.TABLE_SCHEMA = ? AND t.TABLE_NAME = ?`

	selectIndexes = `
SELECT INDEX_NAME AS name, MIN(IF(SEQ_IN_INDEX = 1, COLUMN_NAME, NULL)) AS first, MAX(NON_UNIQUE) = 0 AND COUNT(*) = 1 AND MAX(SUB_PART) IS NULL AS alone
FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND INDEX_TYPE IN ('BTREE', 'HASH')
GROUP BY INDEX_NAME`
)

// mostScanned is how many rows of a table may be read that no key leads to.
const mostScanned = 1000

// column is the column that has the keys, and how it is reached.
type column struct {
	domain
	table   string // in backticks, with its database and the index
	name    string // in backticks
	written string // a key as it is written, whatever the column's collation takes for the same
	alone   bool   // no two rows have the same key
	explain string // what has the server explain a statement, as a table
}

// question is what is asked about a column: see Options.
type question struct {
	read, write   *sqlx.DB
	table, column string
	key           Key
	while, set    string // set is empty where nothing is to be set
	scan          bool
}

// find asks the servers about the column, and has them explain the statements.
func find(ctx context.Context, q question) (*column, error) {
	var server struct{ DB, Version string }
	if err := q.read.GetContext(ctx, &server, "SELECT DATABASE() AS db, VERSION() AS version"); err != nil {
		return nil, fmt.Errorf("asking the server what it is: %w", err)
	}
	database, table, both := strings.Cut(q.table, ".")
	if !both {
		database, table = server.DB, q.table
	}
	var is struct{ Type, Whole, Charset, Kind string }
	switch err := q.read.GetContext(ctx, &is, selectColumn, database, table, q.column, database, table); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("%w: the account that reads sees no column %s of a table %s: there is none, or the account lacks SELECT on it", prescient.ErrInvalid, q.column, q.table)
	case err != nil:
		return nil, fmt.Errorf("asking about the column: %w", err)
	}
	found := &column{name: quoted(q.column), table: quoted(database) + "." + quoted(table), explain: "EXPLAIN FORMAT=TRADITIONAL "}
	if strings.Contains(server.Version, "MariaDB") {
		found.explain = "EXPLAIN "
	}
	var err error
	if found.domain, err = domainOf(q.key, strings.ToLower(is.Type), strings.ToLower(is.Whole), strings.ToLower(is.Charset)); err != nil {
		return nil, fmt.Errorf("%w: key %s: column %s of %s %w", prescient.ErrInvalid, q.key, q.column, q.table, err)
	}
	found.written = found.name
	if found.charset != "" {
		found.written = "CAST(CONVERT(" + found.name + " USING utf8mb4) AS BINARY)"
	}
	if is.Kind != "VIEW" { // whose tables the server names when it explains
		if err := found.takeIndex(ctx, q, database, table); err != nil {
			return nil, err
		}
	}
	if q.set != "" && !found.alone {
		return nil, fmt.Errorf("%w: set needs a primary key, or a unique index, of column %s of %s alone: each key is counted", prescient.ErrInvalid, q.column, q.table)
	}
	return found, found.explainAll(ctx, q)
}

func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// domainOf is what a type of column can hold, where it has keys of a kind.
func domainOf(key Key, kind, whole, charset string) (domain, error) {
	size, numbers := bits[kind]
	texts := slices.Contains([]string{"char", "varchar", "binary", "varbinary", "uuid"}, kind)
	switch {
	case key == Int && numbers:
		return integers(size, strings.Contains(whole, "unsigned")), nil
	case key == Text && texts:
		d := domain{key: Text, charset: charset, uuid: kind == "uuid"}
		if d.uuid {
			d.charset = ""
		}
		if kind == "binary" { // which fills up what is shorter
			_, _ = fmt.Sscanf(whole, "binary(%d)", &d.length)
		}
		return d, nil
	case key == Int:
		return domain{}, fmt.Errorf("is %.60s; want an integer, as 42abc would equal 42 otherwise", whole)
	}
	return domain{}, fmt.Errorf("is %.60s; want CHAR, VARCHAR, BINARY, VARBINARY or UUID", whole)
}

// takeIndex has statements use an index that begins with the column: a server may read a whole table for a list that is long.
func (f *column) takeIndex(ctx context.Context, q question, database, table string) error {
	type index struct {
		Name  string
		First sql.NullString
		Alone bool
	}
	var all []index
	if err := q.read.SelectContext(ctx, &all, selectIndexes, database, table); err != nil {
		return fmt.Errorf("asking for indexes: %w", err)
	}
	all = slices.DeleteFunc(all, func(i index) bool { return !strings.EqualFold(i.First.String, q.column) })
	if len(all) == 0 {
		if q.scan {
			return nil
		}
		return fmt.Errorf("%w: %s has no index that begins with column %s, so that each look would read the whole table: make one, or allow it by scan: true", prescient.ErrInvalid, q.table, q.column)
	}
	rank := func(i index) int {
		switch {
		case i.Alone && i.Name == "PRIMARY":
			return 0
		case i.Alone:
			return 1
		}
		return 2
	}
	best := slices.MinFunc(all, func(a, b index) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Name, b.Name)) })
	f.alone = best.Alone
	f.table += " FORCE INDEX (" + quoted(best.Name) + ")"
	return nil
}

// explainAll has the servers explain the statements, for keys that need not be there.
func (f *column) explainAll(ctx context.Context, q question) error {
	keys := []string{"1", "2"}
	err := reading(ctx, q.read, func(tx *sqlx.Tx) error { return f.explained(ctx, tx, f.selectKeys(q.while, keys), q.scan) })
	switch {
	case err != nil:
		return fmt.Errorf("while %.200q: %w", q.while, err)
	case q.set == "":
		return nil
	}
	if err := f.explained(ctx, q.write, f.update(q.set, q.while, keys), q.scan); err != nil {
		return fmt.Errorf("set %.200q, which the account of the worker does, on its own server, with SELECT and UPDATE on %s: %w", q.set, q.table, err)
	}
	return nil
}

// explained returns an error where a statement cannot be done, or where it reads a table without a key.
func (f *column) explained(ctx context.Context, on sqlx.QueryerContext, statement string, scan bool) error {
	rows, err := on.QueryxContext(ctx, f.explain+statement)
	if err != nil {
		return refusedBy(err)
	}
	defer rows.Close()
	for rows.Next() {
		line := make(map[string]any)
		if err := rows.MapScan(line); err != nil {
			return err
		}
		text := func(name string) string {
			switch value := line[name].(type) {
			case nil:
				return ""
			case []byte:
				return string(value)
			default:
				return fmt.Sprint(value)
			}
		}
		read, _ := strconv.ParseUint(text("rows"), 10, 64)
		if kind := text("type"); !scan && (kind == "ALL" || kind == "index") && read > mostScanned && !strings.HasPrefix(text("table"), "<") {
			return fmt.Errorf("%w: the server would read all of %s (about %d rows, type %s) for each look: it lacks an index for this, or allow it by scan: true", prescient.ErrInvalid, text("table"), read, kind)
		}
	}
	return refusedBy(rows.Err()) // where some servers refuse a statement
}
