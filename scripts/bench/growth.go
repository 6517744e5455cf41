package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/worker"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
	"prescient/scripts/bench/internal/slotrun"
)

var growthSection = rig.Section{
	Name: "growth",
	About: "200 thousand due among 1, 10 and 30 million pending, with a buffer pool of a quarter of the data (at least 32 MB); " +
		"and what inserting a check adds to the app's own transaction there",
	// The pool is set to a quarter of what is there, in steps as fine as the server has. The others are to fill the tables
	// soon.
	Args: func(b *rig.Bench, _ page.Engine) []string {
		return []string{"--loose-innodb-buffer-pool-chunk-size=8M", "--innodb-sort-buffer-size=32M",
			"--loose-innodb-ddl-buffer-size=256M", "--loose-innodb-log-file-size=4G", "--loose-innodb-redo-log-capacity=4G"}
	},
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error { return growPending(ctx, b, s) },
}

var purgeSection = rig.Section{
	Name:  "purge",
	About: "overdue slots swept while an open transaction holds purge back, as one does that is an hour old: what was deleted since then still lies in the table",
	Run:   func(ctx context.Context, b *rig.Bench, s *rig.Server) error { return growPurge(ctx, b, s) },
}

// growForms are the contestants at each size.
var growForms = []rig.Contestant{slotrun.Of("prescient, one handler", "one"), slotrun.Of("prescient, batch handler", "batch")}

func growName(c rig.Contestant, pending int) string {
	return fmt.Sprintf("%s, among %s pending", c.Name, page.Short(float64(pending)))
}

// growPending measures among more and more that is pending.
func growPending(ctx context.Context, b *rig.Bench, s *rig.Server) error {
	most, err := poolSize(ctx, s)
	if err != nil {
		return err
	}
	st, err := b.MakeStage(ctx, s, "growth", b.Scaled(200_000), 0)
	if err != nil {
		return err
	}
	defer func() { _ = setPool(context.WithoutCancel(ctx), s, most) }()
	if !b.Keep {
		defer st.Drop(ctx)
	}
	have := 0
	sizes := []int{b.Scaled(1_000_000), b.Scaled(10_000_000), b.Scaled(30_000_000)}
	if err := st.MakeNumbers(ctx, max(st.Due, min(rig.Numbers, sizes[2]))); err != nil {
		return err
	}
	for _, pending := range sizes {
		if err := setPool(ctx, s, most); err != nil { // to fill it
			return err
		}
		before := rig.UsageNow(st.Pid)
		if err := st.Fill(ctx, have, pending); err != nil {
			return err
		}
		b.Say("  %d more in %v, %.1f µs of the server's CPU each", pending-have, time.Since(before.At).Round(time.Second),
			(rig.UsageNow(st.Pid).Server-before.Server)*1e6/float64(pending-have))
		have = pending
		if err := st.Analyze(ctx, "future_job"); err != nil {
			return err
		}
		if err := st.Set(ctx); err != nil {
			return err
		}
		size, err := dataSize(ctx, st)
		if err != nil {
			return err
		}
		if err := setPool(ctx, s, min(max(size/4, 32<<20), most)); err != nil {
			return err
		}
		pool, err := poolSize(ctx, s)
		if err != nil {
			return err
		}
		b.Say("  %d pending: data %d MB, buffer pool %d MB", pending, size>>20, pool>>20)
		var list []rig.Contestant
		for _, c := range growForms {
			c.Name = growName(c, pending)
			list = append(list, c)
		}
		if err := b.Compete(ctx, st, list); err != nil {
			return err
		}
		if err := growInserts(ctx, b, st, pending); err != nil {
			return err
		}
	}
	return nil
}

// growInserts measures what a check adds to the app's own transaction.
func growInserts(ctx context.Context, b *rig.Bench, st *rig.Stage, pending int) error {
	if err := makeOrders(ctx, st); err != nil {
		return err
	}
	in := inserts{Stage: st, at: st.Slot.Add(rig.Day), where: fmt.Sprintf(", among %s pending", page.Short(float64(pending)))}
	for round := 1; round <= b.Rounds; round++ {
		if err := in.compete(ctx, b, round, in.inTransactions([]int{1}, max(b.Scaled(2_000), 500))); err != nil {
			return err
		}
	}
	return nil
}

// dataSize is that of the installation's tables, in bytes. The due rows are in it, but not the bench's own tables.
func dataSize(ctx context.Context, st *rig.Stage) (bytes int, err error) {
	err = st.App.QueryRowContext(ctx, `SELECT CAST(SUM(data_length + index_length) AS SIGNED) FROM information_schema.tables
		WHERE table_schema = DATABASE() AND table_name IN ('future_job', 'job_history')`).Scan(&bytes)
	return bytes, err
}

// poolSize is that of the server's buffer pool.
func poolSize(ctx context.Context, s *rig.Server) (bytes int, err error) {
	db, err := sqlx.Open("mysql", s.DSN(""))
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return bytes, db.GetContext(ctx, &bytes, "SELECT @@innodb_buffer_pool_size")
}

// setPool sets it, and waits for at most a minute until it is so. A server that will not give memory back goes on with
// what it has, which the log and the page tell.
func setPool(ctx context.Context, s *rig.Server, bytes int) error {
	db, err := sqlx.Open("mysql", s.DSN(""))
	if err != nil {
		return err
	}
	defer db.Close()
	bytes = (bytes + 8<<20 - 1) &^ (8<<20 - 1)
	if _, err := db.ExecContext(ctx, "SET GLOBAL innodb_buffer_pool_size = "+strconv.Itoa(bytes)); err != nil {
		return err
	}
	for range 240 {
		var name, status string
		if err := db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_resize_status'").Scan(&name, &status); err != nil {
			return err
		}
		if status == "" || strings.HasPrefix(status, "Completed") || strings.Contains(status, "did not change") {
			return nil
		}
		if err := rig.Pause(ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// growPurge lets a worker sweep slots of the past, a turn each, without and with a transaction open since before the
// first: what earlier turns deleted then still lies in the table.
func growPurge(ctx context.Context, b *rig.Bench, s *rig.Server) (err error) {
	st, err := b.MakeStage(ctx, s, "purge", b.Scaled(200_000), b.Scaled(1_000_000))
	if err != nil {
		return err
	}
	if !b.Keep {
		defer st.Drop(ctx)
	}
	turns := b.Rounds + 2
	for _, open := range []bool{false, true} {
		name := "prescient, an overdue slot swept"
		if open {
			name = "prescient, the same, with a transaction open since %d such slots before"
			conn, err := st.App.Conn(ctx)
			if err != nil {
				return err
			}
			defer conn.Close()
			for _, query := range []string{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT",
				"SELECT COUNT(*) FROM slot_config"} {
				if _, err := conn.ExecContext(ctx, query); err != nil {
					return err
				}
			}
			defer conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		}
		for turn := range turns {
			slot := st.Slot.AddDate(0, 0, turn-2*turns)
			if open {
				slot = slot.AddDate(0, 0, turns)
			}
			if err := setOverdue(ctx, st, slot); err != nil {
				return err
			}
			title := name
			if open {
				title = fmt.Sprintf(name, turn)
			}
			if _, err := b.Took(title, 1, []int{st.Pid}, func() (int, error) { return st.Due, sweep(ctx, st) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// setOverdue makes the due rows those of a slot that is past.
func setOverdue(ctx context.Context, st *rig.Stage, slot time.Time) error {
	at := slot.Format(time.DateTime)
	for _, query := range []string{
		"UPDATE bench_due SET due_at = '" + at + "', first_check_at = '" + at + "', next_check_at = '" + at + "'",
		"INSERT INTO future_job SELECT * FROM bench_due",
	} {
		if _, err := st.Exec(ctx, query); err != nil {
			return err
		}
	}
	return st.AwaitCalm(ctx)
}

// sweep runs what is overdue.
func sweep(ctx context.Context, st *rig.Stage) error {
	l := slotrun.Workload{Form: "one"}
	w, err := worker.New(ctx, st.DB, worker.Options{Registry: l.Registry(st.DB), Load: worker.Load{Pace: worker.PaceFull}})
	if err != nil {
		return err
	}
	figures, err := w.Sweep(ctx)
	if err != nil {
		return err
	}
	rows := 0
	for _, f := range figures {
		rows += f.Rows()
	}
	if rows != st.Due {
		return fmt.Errorf("%d rows were swept; want %d", rows, st.Due)
	}
	return nil
}
