package shards

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// ErrNoTables is returned by Prepare for a shard that has no tables yet.
var ErrNoTables = errors.New("it has no tables yet: begin the reshard, which makes them (vtctldclient Reshard … create)")

// copied is how many rows go to a shard in one statement.
const copied = 50

// Copied is what Prepare did to a table.
type Copied struct {
	Table string `json:"table"`
	Rows  int    `json:"rows"`
}

// Prepare makes a shard ready that is to come in the place of another: it copies to it what has to be the same on each shard and what no reshard
// copies, of which owns is the list, and replaces what it has of that. Both pools are targeted. from is any shard that is served; nobody is to work on
// the other yet. All of it is done in one transaction: before, the shard has no slot_config, and no worker serves it. It may be called again, as for a
// pause that was made since.
func Prepare(ctx context.Context, from, to *sqlx.DB, prefix string, dialect text.Dialect) (list []Copied, err error) {
	source, err := store.OpenTables(ctx, from, prefix, 0, dialect)
	if err != nil {
		return nil, fmt.Errorf("the shard to copy from: %w", err)
	}
	if _, err := from.ExecContext(ctx, source.Fill("shard/place", "{stream}", text.InstallationStream)); err != nil {
		return nil, fmt.Errorf("the audit of the shard to copy from: %w", err)
	}
	read, err := from.BeginTxx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("beginning to read: %w", err)
	}
	defer read.Rollback()
	write, err := to.BeginTxx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("beginning to write: %w", err)
	}
	defer write.Rollback()
	for _, table := range owns {
		if !table.same {
			continue
		}
		rows, err := copyTable(ctx, &source, read, write, table.name)
		switch {
		case errno.Is(err, errno.NoSuchTable):
			return nil, ErrNoTables
		case err != nil:
			return nil, fmt.Errorf("copying %s%s: %w", prefix, table.name, err)
		}
		list = append(list, Copied{prefix + table.name, rows})
	}
	if err := write.Commit(); err != nil {
		return nil, fmt.Errorf("committing what was copied: %w", err)
	}
	return list, nil
}

// copyTable replaces the rows of a table by those of another shard, and returns how many they are.
func copyTable(ctx context.Context, t *store.Tables, from, to *sqlx.Tx, table string) (all int, err error) {
	if _, err := to.ExecContext(ctx, t.Fill("shard/clear", "{table}", table)); err != nil {
		return 0, err
	}
	for {
		columns, rows, err := page(ctx, from, t.Fill("shard/rows", "{table}", table), all)
		if err != nil || len(rows) == 0 {
			return all, err
		}
		var args []any
		var lines []string
		for _, row := range rows {
			var line []string
			for i, value := range row {
				what, arg := written(columns[i].binary, value)
				line, args = append(line, what), append(args, arg...)
			}
			lines = append(lines, "("+strings.Join(line, ", ")+")")
		}
		names := make([]string, len(columns))
		for i, c := range columns {
			names[i] = "`" + c.name + "`"
		}
		statement := t.Fill("shard/write", "{table}", table, "{columns}", strings.Join(names, ", "), "{rows}", strings.Join(lines, ", "))
		if _, err := to.ExecContext(ctx, statement, args...); err != nil {
			return 0, err
		}
		all += len(rows)
	}
}

// A column is one of a page.
type column struct {
	name   string
	binary bool
}

// page reads the next rows of a table behind so many.
func page(ctx context.Context, tx *sqlx.Tx, statement string, behind int) (columns []column, list [][]any, err error) {
	rows, err := tx.QueryxContext(ctx, statement, copied, behind)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range types {
		columns = append(columns, column{t.Name(), strings.HasSuffix(t.DatabaseTypeName(), "BINARY") || strings.HasSuffix(t.DatabaseTypeName(), "BLOB")})
	}
	for rows.Next() {
		row, err := rows.SliceScan()
		if err != nil {
			return nil, nil, err
		}
		list = append(list, row)
	}
	return columns, list, rows.Err()
}

// written is how a value that was read is sent: bytes as a literal, since they are no text, and all else as a parameter.
func written(binary bool, value any) (what string, arg []any) {
	bytes, are := value.([]byte)
	switch {
	case are && binary:
		return string(literal.AppendBytes(nil, bytes)), nil
	case are:
		return "?", []any{string(bytes)}
	}
	return "?", []any{value}
}
