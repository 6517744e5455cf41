package main

import (
	"context"
	"fmt"

	"prescient/scripts/bench/internal/rig"
)

var cronSection = rig.Section{
	Name:  "cron",
	About: "where the story starts: cron asking the orders table who is late, without and with an index, as it grows",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		p, err := s.Install(ctx, "cron", rig.Day, false)
		if err != nil {
			return err
		}
		if !b.Keep {
			defer p.Drop(ctx)
		}
		if err := p.MakeNumbers(ctx, min(rig.Numbers, b.Scaled(10_000_000))); err != nil {
			return err
		}
		if _, err := p.Exec(ctx, `CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, placed_at DATETIME NOT NULL, shipped_at DATETIME NULL,
			customer VARCHAR(100) NOT NULL)`); err != nil {
			return err
		}
		have := 0
		for _, size := range []int{b.Scaled(100_000), b.Scaled(1_000_000), b.Scaled(10_000_000)} {
			for ; have < size; have += min(rig.Numbers, size-have) {
				// One order in a thousand is not shipped, and of those half are late.
				if _, err := p.Exec(ctx, `INSERT INTO orders SELECT n + ?, UTC_TIMESTAMP() - INTERVAL n MOD 1440 MINUTE,
					IF(n MOD 1000 = 7, NULL, UTC_TIMESTAMP()), REPEAT('x', 60) FROM bench_n WHERE n < ?`, have, min(rig.Numbers, size-have)); err != nil {
					return err
				}
			}
			for _, indexed := range []bool{false, true} {
				name := map[bool]string{false: "no index", true: "index on (shipped_at, placed_at)"}[indexed]
				if indexed {
					if _, err := p.Exec(ctx, "ALTER TABLE orders ADD KEY late (shipped_at, placed_at)"); err != nil {
						return err
					}
				}
				if err := p.Analyze(ctx, "orders"); err != nil {
					return err
				}
				if err := rig.Timed(ctx, b, "who is late? "+name, size, 5, func() (int, error) {
					var ids []int64
					err := p.DB.SelectContext(ctx, &ids, "SELECT id FROM orders WHERE shipped_at IS NULL AND placed_at < UTC_TIMESTAMP() - INTERVAL 12 HOUR")
					return len(ids), err
				}); err != nil {
					return err
				}
			}
			if _, err := p.Exec(ctx, "ALTER TABLE orders DROP KEY late"); err != nil {
				return fmt.Errorf("dropping the index: %w", err)
			}
		}
		return nil
	},
}
