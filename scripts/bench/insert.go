package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

var insertSection = rig.Section{
	Name:  "insert",
	About: "inserting checks, among a million pending: in the app's transaction beside the order alone and beside plain SQL, at 1, 8 and 32 connections; with a trace and without one by turns; by itself; in bulk; cancel and replace",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error {
		st, err := b.MakeStage(ctx, s, "insert", 100, b.Scaled(1_000_000))
		if err != nil {
			return err
		}
		if !b.Keep {
			defer st.Drop(ctx)
		}
		if err := makeOrders(ctx, st); err != nil {
			return err
		}
		in := inserts{Stage: st, at: st.Slot.Add(rig.Day)}
		for round := 1; round <= b.Rounds; round++ {
			if err := in.compete(ctx, b, round, in.contestants(b, round)); err != nil {
				return err
			}
		}
		return nil
	},
}

// makeOrders makes the app's own table.
func makeOrders(ctx context.Context, st *rig.Stage) error {
	st.App.SetMaxOpenConns(64)
	_, err := st.Exec(ctx, "CREATE TABLE IF NOT EXISTS orders (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, placed_at DATETIME NOT NULL, customer VARCHAR(100) NOT NULL)")
	return err
}

// inserts are the contestants of the section. Each makes rows of its own.
type inserts struct {
	*rig.Stage
	at    time.Time
	first int    // number of the next row
	where string // added to the names of the cases
}

type insertion struct {
	name        string
	n           int
	do          func(ctx context.Context, n int) error
	connections int  // of a transaction for each; 0: of another kind
	alone       bool // the app's own part, which the others are compared with
	behind      bool // on the rows of the one before it, which it needs
	figures     func() map[string]float64
}

// wanted are those that --only names, and what they need.
func wanted(b *rig.Bench, list []insertion) (some []insertion) {
	needed := false
	for _, c := range slices.Backward(list) {
		if needed || b.Wants(c.name) {
			some = append(some, c)
			needed = c.behind
		}
	}
	slices.Reverse(some)
	return some
}

// compete gives each its turn, and clears up.
func (in *inserts) compete(ctx context.Context, b *rig.Bench, round int, list []insertion) error {
	alone := 0.0
	for _, c := range wanted(b, list) {
		_, err := b.TookWith(c.name+in.where, round, []int{in.Pid}, func() (int, error) { return c.n, c.do(ctx, c.n) }, func(r *page.Record) {
			if c.figures != nil {
				r.Figures = c.figures()
			}
			if c.connections == 0 {
				return
			}
			// What the app waits for.
			each := r.Seconds * 1e6 * float64(c.connections) / float64(c.n)
			r.Figures = map[string]float64{"µs a transaction": each}
			if c.alone {
				alone = each
			} else if alone > 0 {
				r.Figures["µs added"] = each - alone
			}
		})
		if err != nil {
			return err
		}
	}
	if _, err := in.Exec(ctx, "TRUNCATE TABLE orders"); err != nil {
		return err
	}
	return in.Set(ctx)
}

// inTransactions are an order, alone and with a check, a transaction each.
func (in *inserts) inTransactions(connections []int, n int) (list []insertion) {
	for _, connections := range connections {
		for i, c := range []struct {
			name string
			with func(ctx context.Context, tx prescient.DB, i int) error
		}{
			{"the order alone", func(context.Context, prescient.DB, int) error { return nil }},
			{"the order and a plain SQL insert", in.plain},
			{"prescient, the order and Insert", in.insert},
		} {
			list = append(list, insertion{name: fmt.Sprintf("%s, %d connections", c.name, connections), n: n, connections: connections, alone: i == 0,
				do: func(ctx context.Context, n int) error { return in.withOrders(ctx, connections, n, c.with) }})
		}
	}
	return list
}

// byTurns are orders with a check, of which every other turn's have a trace: rounds differ by more than a trace costs.
func (in *inserts) byTurns(connections, n int) insertion {
	const turns = 40
	var figures map[string]float64
	return insertion{name: fmt.Sprintf("prescient, the order and Insert with a trace and without by turns, %d connections", connections), n: n,
		figures: func() map[string]float64 { return figures },
		do: func(ctx context.Context, n int) error {
			took := make(map[bool][]float64) // µs a transaction, with a trace and without
			for turn := range turns {
				traced, some := turn%4 == 1 || turn%4 == 2, max(n/turns, 1)
				started := time.Now()
				err := in.withOrders(ctx, connections, some, func(ctx context.Context, tx prescient.DB, i int) error {
					job := in.job(i)
					if traced {
						job.Trace = fmt.Sprintf("00-%032x-%016x-01", i+1, i+1)
					}
					_, err := in.Client.Insert(ctx, tx, job)
					return err
				})
				if err != nil {
					return err
				}
				took[traced] = append(took[traced], time.Since(started).Seconds()*1e6*float64(connections)/float64(some))
			}
			with, without := page.Median(took[true]), page.Median(took[false])
			figures = map[string]float64{"µs with": with, "µs without": without, "with/without": with / without}
			return nil
		}}
}

func (in *inserts) contestants(b *rig.Bench, round int) []insertion {
	single, bulk := b.Scaled(4_000), b.Scaled(100_000)
	inBulk := []insertion{{name: "multi-row INSERT by hand, 1000 rows each", n: bulk, do: in.byHand}, {name: "prescient, InsertMany", n: bulk, do: in.many}}
	if round%2 == 0 {
		slices.Reverse(inBulk) // the later of them meets an index that has grown
	}
	return slices.Concat(in.inTransactions([]int{1, 8, 32}, single), []insertion{
		in.byTurns(1, 5*single),
		in.byTurns(8, 5*single),
		{name: "plain SQL insert, 8 connections", n: single, do: func(ctx context.Context, n int) error {
			return in.each(ctx, n, func(ctx context.Context, i int) error { return in.plain(ctx, in.App, i) })
		}},
		{name: "prescient, Insert, 8 connections", n: single, do: func(ctx context.Context, n int) error {
			return in.each(ctx, n, func(ctx context.Context, i int) error { return in.insert(ctx, in.App, i) })
		}},
	}, inBulk, []insertion{
		{name: "prescient, Insert replaces", n: single, behind: true, do: func(ctx context.Context, n int) error {
			return in.each(ctx, n, func(ctx context.Context, i int) error {
				job := in.job(i - n) // of the bulk
				job.OnPending = prescient.Replace
				_, err := in.Client.Insert(ctx, in.App, job)
				return err
			})
		}},
		{name: "prescient, Cancel", n: single, behind: true, do: func(ctx context.Context, n int) error {
			return in.each(ctx, n, func(ctx context.Context, i int) error {
				_, err := in.Client.Cancel(ctx, in.App, in.job(i-2*n).Entity, rig.DueExec)
				return err
			})
		}},
	})
}

func (in *inserts) job(i int) prescient.NewJob {
	return prescient.NewJob{Entity: prescient.Entity{Name: "parcel", Key: fmt.Sprint(i)}, JobExec: rig.DueExec, DueAt: in.at}
}

func (in *inserts) take(n int) (first int) {
	first = in.first
	in.first += n
	return first
}

func (in *inserts) each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	first := in.take(n)
	return rig.InParallel(ctx, 8, n, func(ctx context.Context, i int) error { return do(ctx, first+i) })
}

// withOrders places orders, a transaction each, and something with each.
func (in *inserts) withOrders(ctx context.Context, connections, n int, with func(ctx context.Context, tx prescient.DB, i int) error) error {
	first := in.take(n)
	return rig.InParallel(ctx, connections, n, func(ctx context.Context, i int) error {
		tx, err := in.App.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, "INSERT INTO orders (placed_at, customer) VALUES (UTC_TIMESTAMP(), 'somebody')"); err == nil {
			err = with(ctx, tx, first+i)
		}
		if err != nil {
			_ = tx.Rollback()
			return err
		}
		return tx.Commit()
	})
}

func (in *inserts) plain(ctx context.Context, tx prescient.DB, i int) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO future_job (entity_name, entity_key, job_exec, due_at) VALUES ('parcel', ?, ?, ?)",
		i, rig.DueExec, in.at.Format(time.DateTime))
	return err
}

func (in *inserts) insert(ctx context.Context, tx prescient.DB, i int) error {
	_, err := in.Client.Insert(ctx, tx, in.job(i))
	return err
}

func (in *inserts) byHand(ctx context.Context, n int) error {
	first := in.take(n)
	at := in.at.Format(time.DateTime)
	for from := 0; from < n; from += 1000 {
		var rows strings.Builder
		for i := from; i < min(from+1000, n); i++ {
			if i > from {
				rows.WriteByte(',')
			}
			fmt.Fprintf(&rows, "('parcel','%d','%s','%s')", first+i, rig.DueExec, at)
		}
		if _, err := in.App.ExecContext(ctx, "INSERT INTO future_job (entity_name, entity_key, job_exec, due_at) VALUES "+rows.String()); err != nil {
			return err
		}
	}
	return nil
}

func (in *inserts) many(ctx context.Context, n int) error {
	first := in.take(n)
	for from := 0; from < n; from += 1000 {
		jobs := make([]prescient.NewJob, 0, 1000)
		for i := from; i < min(from+1000, n); i++ {
			jobs = append(jobs, in.job(first+i))
		}
		if _, err := in.Client.InsertMany(ctx, in.App, jobs); err != nil {
			return err
		}
	}
	return nil
}
