package rig

import (
	"context"
)

// Numbers is how many rows the table of numbers has, which the fillers multiply.
const Numbers = 1_000_000

// MakeNumbers makes bench_n with the numbers from 0.
func (p *Place) MakeNumbers(ctx context.Context, upTo int) error {
	for _, query := range []string{
		"DROP TABLE IF EXISTS bench_n", "CREATE TABLE bench_n (n INT NOT NULL PRIMARY KEY)", "INSERT INTO bench_n VALUES (0)"} {
		if _, err := p.Exec(ctx, query); err != nil {
			return err
		}
	}
	for n := 1; n < upTo; n *= 2 {
		if _, err := p.Exec(ctx, "INSERT INTO bench_n SELECT n + ? FROM bench_n WHERE n + ? < ?", n, n, upTo); err != nil {
			return err
		}
	}
	return p.Analyze(ctx, "bench_n")
}

// Analyze lets the server look at tables.
func (p *Place) Analyze(ctx context.Context, tables ...string) error {
	for _, table := range tables {
		rows, err := p.App.QueryContext(ctx, "ANALYZE TABLE "+table)
		if err != nil {
			return err
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	return nil
}
