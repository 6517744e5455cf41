package main

import (
	"context"
	"fmt"
)

var cronSection = section{
	name:  "cron",
	about: "where the story starts: cron asking the orders table who is late, without and with an index, as it grows",
	run: func(ctx context.Context, b *bench, s *server) error {
		p, err := s.install(ctx, "cron", day, false)
		if err != nil {
			return err
		}
		if !b.keep {
			defer p.drop(ctx)
		}
		if err := p.makeNumbers(ctx, min(numbers, b.scaled(10_000_000))); err != nil {
			return err
		}
		if _, err := p.exec(ctx, `CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, placed_at DATETIME NOT NULL, shipped_at DATETIME NULL,
			customer VARCHAR(100) NOT NULL)`); err != nil {
			return err
		}
		have := 0
		for _, size := range []int{b.scaled(100_000), b.scaled(1_000_000), b.scaled(10_000_000)} {
			for ; have < size; have += min(numbers, size-have) {
				// One order in a thousand is not shipped, and of those half are late.
				if _, err := p.exec(ctx, `INSERT INTO orders SELECT n + ?, UTC_TIMESTAMP() - INTERVAL n MOD 1440 MINUTE,
					IF(n MOD 1000 = 7, NULL, UTC_TIMESTAMP()), REPEAT('x', 60) FROM bench_n WHERE n < ?`, have, min(numbers, size-have)); err != nil {
					return err
				}
			}
			for _, indexed := range []bool{false, true} {
				name := map[bool]string{false: "no index", true: "index on (shipped_at, placed_at)"}[indexed]
				if indexed {
					if _, err := p.exec(ctx, "ALTER TABLE orders ADD KEY late (shipped_at, placed_at)"); err != nil {
						return err
					}
				}
				if err := p.analyze(ctx, "orders"); err != nil {
					return err
				}
				if err := b.timed(ctx, "who is late? "+name, size, 5, func() (int, error) {
					var ids []int64
					err := p.db.SelectContext(ctx, &ids, "SELECT id FROM orders WHERE shipped_at IS NULL AND placed_at < UTC_TIMESTAMP() - INTERVAL 12 HOUR")
					return len(ids), err
				}); err != nil {
					return err
				}
			}
			if _, err := p.exec(ctx, "ALTER TABLE orders DROP KEY late"); err != nil {
				return fmt.Errorf("dropping the index: %w", err)
			}
		}
		return nil
	},
}
