package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"

	"prescient/prescient"
)

// Estimate is how many rows a query reads by its plan, which an EXPLAIN asks for; false where the plan says none. TiDB calls that otherwise.
func Estimate(ctx context.Context, db prescient.DB, doing, explain string, args ...any) (n float64, known bool, err error) {
	rows, err := db.QueryContext(ctx, explain, args...)
	if err != nil {
		return 0, false, fmt.Errorf("%s: %w", doing, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return 0, false, err
	}
	into := make([]any, len(columns))
	for i, column := range columns {
		into[i] = new(sql.RawBytes)
		if name := strings.ToLower(column); name == "rows" || name == "estrows" {
			into[i] = Text(func(text string) error {
				_, err := fmt.Sscan(text, &n)
				known = err == nil
				return nil
			})
		}
	}
	if rows.Next() {
		err = rows.Scan(into...)
	}
	if math.IsNaN(n) || math.IsInf(n, 0) {
		n, known = 0, false
	}
	return n, known, cmp.Or(err, rows.Err())
}
