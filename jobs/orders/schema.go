package orders

import (
	"context"
	_ "embed" // for schema.sql
	"fmt"
	"regexp"
	"strings"
	"time"

	"prescient/prescient"
)

//go:embed schema.sql
var schema string

// CreateTables makes orders and order_alerts with a prefix where they are not there yet. The error wraps
// prescient.ErrInvalid for a prefix that New refuses; others come from the server.
func CreateTables(ctx context.Context, db prescient.DB, prefix string) error {
	if err := validPrefix(prefix); err != nil {
		return err
	}
	for statement := range strings.SplitSeq(withPrefix(schema, prefix), ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("creating the tables of orders: %w", err)
		}
	}
	return nil
}

var prefixes = regexp.MustCompile(`^([a-z_][a-z0-9_]{0,31})?$`)

func validPrefix(prefix string) error {
	if !prefixes.MatchString(prefix) {
		return fmt.Errorf("orders: %w: prefix %.40q: at most 32 of a-z, 0-9 and _ are allowed, and no digit first", prescient.ErrInvalid, prefix)
	}
	return nil
}

func withPrefix(statement, prefix string) string {
	return strings.ReplaceAll(statement, "{prefix}", prefix)
}

// utcText is how a time is given to the server: as text, which no setting of a connection shifts, in whole
// microseconds.
func utcText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000") }

// roundUp returns t in UTC, in whole microseconds, and not before t.
func roundUp(t time.Time) time.Time {
	return t.UTC().Add(time.Microsecond - 1).Truncate(time.Microsecond)
}
