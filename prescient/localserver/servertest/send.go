package servertest

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"
)

// cleanupTime bounds the removal of a test's database.
const cleanupTime = 30 * time.Second

// WithParams returns a DSN with further parameters.
func WithParams(dsn, params string) string {
	switch {
	case params == "":
		return dsn
	case strings.Contains(dsn[strings.LastIndex(dsn, "/")+1:], "?"):
		return dsn + "&" + params
	default:
		return dsn + "?" + params
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
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
