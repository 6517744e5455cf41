package schedules

import (
	"context"
	"fmt"

	"prescient/prescient/schedule"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// create makes schedules in bulk, and then some more one by one.
func (st *stage) create(ctx context.Context, b *rig.Bench) error {
	before, err := st.size(ctx)
	if err != nil {
		return err
	}
	many, few := b.Scaled(1_000_000), b.Scaled(20_000)
	name := fmt.Sprintf("prescient, %s, created %d at a time, %d connections", st.name, inBulk, st.connections)
	if _, err := b.TookWith(name, 1, []int{st.Pid}, func() (int, error) { return many, st.createMany(ctx, many, st.number) },
		func(r *page.Record) {
			var after map[string]float64
			if after, err = st.size(ctx); err != nil {
				return
			}
			r.Figures = map[string]float64{"bytes each": -payloadLen}
			for index, size := range after {
				each := (size - before[index]) / float64(many)
				r.Figures["bytes each"] += each
				r.Figures["bytes in "+index] = each
			}
		}); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	if len(st.forms) == 0 {
		return nil
	}
	pattern := st.number(0)
	pattern.ID, pattern.Owner.Key = patternID, patternOwner
	if _, err := st.schedules.Create(ctx, st.App, pattern); err != nil {
		return err
	}
	hand, err := learn(ctx, st.Place)
	if err != nil {
		return err
	}
	for round := 1; round <= b.Rounds; round++ {
		for _, connections := range singles {
			for _, c := range []struct {
				name   string
				create func(ctx context.Context, one schedule.Schedule) error
			}{
				{"SQL only, rows of " + st.name + " as the library writes them, created one at a time", func(ctx context.Context, one schedule.Schedule) error {
					return hand.create(ctx, st.Place, one.ID, one.Owner.Key)
				}},
				{"prescient, " + st.name + ", created one at a time", func(ctx context.Context, one schedule.Schedule) error {
					_, err := st.schedules.Create(ctx, st.App, one)
					return err
				}},
			} {
				if err := st.AwaitCalm(ctx); err != nil {
					return err
				}
				n := min(few, few/16*connections)
				if _, err := b.Took(fmt.Sprintf("%s, %d connections", c.name, connections), round, []int{st.Pid}, func() (int, error) { return n, st.createEach(ctx, connections, n, c.create) }); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// createMany makes schedules with the next numbers, some at a time.
func (st *stage) createMany(ctx context.Context, n int, number func(i int) schedule.Schedule) error {
	return inBulks(ctx, st, n, number, func(ctx context.Context, some []schedule.Schedule) error {
		_, err := st.schedules.CreateMany(ctx, st.App, some)
		return err
	})
}

// inBulks makes something with each of the next numbers, some at a time.
func inBulks[T any](ctx context.Context, st *stage, n int, number func(i int) T, create func(ctx context.Context, some []T) error) error {
	first := st.made
	st.made += n
	return rig.InParallel(ctx, st.connections, (n+inBulk-1)/inBulk, func(ctx context.Context, part int) error {
		some := make([]T, 0, inBulk)
		for i := part * inBulk; i < min((part+1)*inBulk, n); i++ {
			some = append(some, number(first+i))
		}
		return create(ctx, some)
	})
}

// createEach makes schedules with the next numbers, each by itself.
func (st *stage) createEach(ctx context.Context, connections, n int, create func(ctx context.Context, one schedule.Schedule) error) error {
	first := st.made
	st.made += n
	return rig.InParallel(ctx, connections, n, func(ctx context.Context, i int) error { return create(ctx, st.number(first+i)) })
}

// size is what the indexes of the tables take, those that hold the rows too, in bytes.
func (st *stage) size(ctx context.Context) (map[string]float64, error) {
	if err := st.Analyze(ctx, "schedule", "future_job"); err != nil {
		return nil, err
	}
	rows, err := st.App.QueryContext(ctx, `SELECT CONCAT(table_name, '.', index_name), stat_value * @@innodb_page_size FROM mysql.innodb_index_stats
		WHERE database_name = ? AND table_name IN ('schedule', 'future_job') AND stat_name = 'size'`, st.Name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	sizes := make(map[string]float64)
	for rows.Next() {
		var index string
		var size float64
		if err := rows.Scan(&index, &size); err != nil {
			return nil, err
		}
		sizes[index] = size
	}
	return sizes, rows.Err()
}
