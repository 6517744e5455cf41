package door

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	text "prescient/sql"
)

// Lacking are the rights of a role, such as serve-viewer, that the account of a pool lacks: each with the object that it is on. Each is tried by a
// statement that is explained, and not run. Nothing is lacking of the owner.
func Lacking(ctx context.Context, db prescient.DB, prefix string, dialect text.Dialect, role string) (lacking []string, err error) {
	rights, _ := text.Rights(role, dialect)
	for _, name := range slices.Sorted(maps.Keys(rights)) {
		for _, try := range triesOf(prefix+name, rights[name]) {
			rows, err := db.QueryContext(ctx, try.statement)
			if err == nil {
				err = errors.Join(rows.Close(), rows.Err())
			}
			var server *mysql.MySQLError
			switch {
			case errno.Denied(err):
				lacking = append(lacking, try.right+" on "+prefix+name)
			case err != nil && !errors.As(err, &server): // what else the server has against it is no matter of rights
				return nil, fmt.Errorf("trying the rights of %s: %w", role, err)
			}
		}
	}
	return lacking, nil
}

// try is a right, and a statement that is refused without it.
type try struct{ right, statement string }

// eachRight finds the rights of a line of the grants, with their columns.
var eachRight = regexp.MustCompile(`(SELECT|INSERT|UPDATE|DELETE)(?: \(([^)]*)\))?`)

// triesOf are those of an object. Columns in braces are filled in elsewhere, and are not tried.
func triesOf(name, rights string) (all []try) {
	for _, found := range eachRight.FindAllStringSubmatch(rights, -1) {
		right, columns := found[1], found[2]
		if strings.Contains(columns, "{") {
			columns = ""
		}
		var statement string
		switch right {
		case "SELECT":
			if columns == "" {
				columns = "*"
				if found[2] != "" {
					columns = "1"
				}
			}
			statement = fmt.Sprintf("SELECT %s FROM %s WHERE 1 = 0", columns, name)
		case "INSERT":
			nulls := "NULL" + strings.Repeat(", NULL", strings.Count(columns, ","))
			if columns == "" {
				nulls = ""
			}
			statement = fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", name, columns, nulls)
		case "UPDATE":
			sets := strings.ReplaceAll(columns, ",", " = NULL,") + " = NULL"
			if columns == "" {
				sets = "no_such_column = NULL" // that there is none is said to those alone who may
			}
			statement = fmt.Sprintf("UPDATE %s SET %s WHERE 1 = 0", name, sets)
		case "DELETE":
			statement = fmt.Sprintf("DELETE FROM %s WHERE 1 = 0", name)
		}
		all = append(all, try{right, "EXPLAIN " + statement})
	}
	return all
}
