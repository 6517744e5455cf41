package rights

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/go-sql-driver/mysql"
)

// ErrUnseen is returned where the account of the connection may not see what another has: that takes SELECT ON mysql.*.
var ErrUnseen = errors.New("this account may not see what others have: it lacks SELECT ON mysql.*")

// Querier is what *sql.DB and *sqlx.DB have in common.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Numbers of the servers' errors that matter here.
const (
	errDatabaseDenied = 1044
	errNoSuchGrant    = 1141 // there is no such account
	errTableDenied    = 1142
	errAccessDenied   = 1227
	errTiDBDenied     = 8121
)

// denials are those for an account that may not look.
var denials = []uint16{errDatabaseDenied, errTableDenied, errAccessDenied, errTiDBDenied}

// Has asks the server what an account has, by its name as it stands in a GRANT; CURRENT_USER() is that of the connection. Nothing is what one
// has that is not there. The error wraps ErrUnseen.
func Has(ctx context.Context, db Querier, account string) (Set, error) {
	rows, err := db.QueryContext(ctx, "SHOW GRANTS FOR "+account)
	var server *mysql.MySQLError
	switch {
	case errors.As(err, &server) && server.Number == errNoSuchGrant:
		return Set{}, nil
	case errors.As(err, &server) && slices.Contains(denials, server.Number):
		return nil, fmt.Errorf("%w (%s)", ErrUnseen, server.Message)
	case err != nil:
		return nil, fmt.Errorf("asking what %s has: %w", account, err)
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, fmt.Errorf("reading what %s has: %w", account, err)
		}
		lines = append(lines, line)
	}
	return Parse(lines), rows.Err()
}
