package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"prescient/prescient"
)

// Estimate is how many rows a query reads by its plan, which an EXPLAIN asks for; false where the plan says none. TiDB calls that otherwise.
func Estimate(ctx context.Context, db prescient.DB, doing, explain string, args ...any) (n float64, known bool, err error) {
	first := true
	err = eachPlan(ctx, db, doing, func(_ string, rows float64, has bool) {
		if first {
			n, known, first = rows, has, false
		}
	}, explain, args...)
	return n, known, err
}

// Estimates is Estimate for the parts of a UNION ALL, of which the first is 1. A server that does not number them estimates none.
func Estimates(ctx context.Context, db prescient.DB, doing, explain string, args ...any) (map[int]float64, error) {
	all := make(map[int]float64)
	err := eachPlan(ctx, db, doing, func(id string, rows float64, has bool) {
		if part, err := strconv.Atoi(id); err == nil && has {
			all[part] = rows
		}
	}, explain, args...)
	return all, err
}

// eachPlan calls do with what each line of a plan is numbered, and how many rows it has.
func eachPlan(ctx context.Context, db prescient.DB, doing string, do func(id string, rows float64, has bool), explain string, args ...any) error {
	rows, err := db.QueryContext(ctx, explain, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	var id string
	var n float64
	var has bool
	into := make([]any, len(columns))
	for i, column := range columns {
		switch strings.ToLower(column) {
		case "id":
			into[i] = Text(func(text string) error { id = text; return nil })
		case "rows", "estrows":
			into[i] = Text(func(text string) error {
				_, err := fmt.Sscan(text, &n)
				has = err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
				return nil
			})
		default:
			into[i] = new(sql.RawBytes)
		}
	}
	for rows.Next() {
		id, n, has = "", 0, false
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if !has {
			n = 0
		}
		do(id, n, has)
	}
	return rows.Err()
}

// AtOnce is how many looks one statement has at most. The server opens the table for each, and plans each.
const AtOnce = 32

// Together is a statement of several looks. UNION ALL needs no temporary table.
func Together(look string, n int) string {
	return strings.Join(slices.Repeat([]string{"(" + look + ")"}, n), " UNION ALL ")
}
