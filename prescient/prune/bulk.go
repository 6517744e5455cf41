package prune

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient/internal/store"
)

// bulkRuns is how many old bulk runs are looked for at a time.
const bulkRuns = 100

// pruneBulk deletes old bulk runs, their checks first: they say which checks one entry of the audit was about.
func (p *pruner) pruneBulk(ctx context.Context, cutoff time.Time) error {
	for {
		var numbers []uint64
		err := p.retry(ctx, "looking for old bulk runs", func(ctx context.Context) (err error) {
			numbers, err = store.Rows(ctx, p.conn, "looking for old bulk runs", p.tables.Stmt.Get("prune/bulk_old"), func(n *uint64) []any { return []any{n} }, cutoff, cutoff, bulkRuns)
			return err
		})
		if err != nil {
			return err
		}
		before := p.report.AuditRows
		for _, number := range numbers {
			for _, one := range []struct {
				statement string
				args      []any
				deleted   *int
			}{
				{"prune/bulk_checks", []any{number, pruneBatch}, &p.report.AuditRows},
				{"prune/bulk_run", []any{number, number}, &p.report.AuditRows},
				{"prune/bulk_duty", []any{fmt.Sprintf("bulk/%d", number)}, new(int)},
			} {
				err := p.deleteBy(ctx, func(ctx context.Context) (int, error) {
					return store.Affected(ctx, p.conn, p.tables.Stmt.Get(one.statement), one.args...)
				}, one.deleted)
				if err != nil {
					return err
				}
			}
		}
		if len(numbers) < bulkRuns || p.report.AuditRows == before {
			return nil
		}
	}
}
