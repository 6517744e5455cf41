package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/worker"
)

var growthSection = section{
	name: "growth",
	about: "200 thousand due among 1, 10 and 30 million pending, with a buffer pool of a quarter of the data (at least 32 MB); " +
		"and what inserting a check adds to the app's own transaction there",
	// The pool is set to a quarter of what is there, in steps as fine as the server has. The others are to fill the tables
	// soon.
	args: func(b *bench) []string {
		return []string{"--loose-innodb-buffer-pool-chunk-size=8M", "--innodb-sort-buffer-size=32M",
			"--loose-innodb-ddl-buffer-size=256M", "--loose-innodb-log-file-size=4G", "--loose-innodb-redo-log-capacity=4G"}
	},
	run: func(ctx context.Context, b *bench, s *server) error { return b.growPending(ctx, s) },
}

var purgeSection = section{
	name:  "purge",
	about: "overdue slots swept while an open transaction holds purge back, as one does that is an hour old: what was deleted since then still lies in the table",
	run:   func(ctx context.Context, b *bench, s *server) error { return b.growPurge(ctx, s) },
}

// growForms are the contestants at each size.
var growForms = []contestant{slotRunOf("prescient, one handler", "one"), slotRunOf("prescient, batch handler", "batch")}

func growName(c contestant, pending int) string {
	return fmt.Sprintf("%s, among %s pending", c.name, short(float64(pending)))
}

// growPending measures among more and more that is pending.
func (b *bench) growPending(ctx context.Context, s *server) error {
	most, err := s.poolSize(ctx)
	if err != nil {
		return err
	}
	st, err := b.makeStage(ctx, s, "growth", b.scaled(200_000), 0)
	if err != nil {
		return err
	}
	defer func() { _ = s.setPool(context.WithoutCancel(ctx), most) }()
	if !b.keep {
		defer st.drop(ctx)
	}
	have := 0
	sizes := []int{b.scaled(1_000_000), b.scaled(10_000_000), b.scaled(30_000_000)}
	if err := st.makeNumbers(ctx, max(st.due, min(numbers, sizes[2]))); err != nil {
		return err
	}
	for _, pending := range sizes {
		if err := s.setPool(ctx, most); err != nil { // to fill it
			return err
		}
		before := usageNow(st.pid)
		if err := st.fill(ctx, have, pending); err != nil {
			return err
		}
		b.say("  %d more in %v, %.1f µs of the server's CPU each", pending-have, time.Since(before.at).Round(time.Second),
			(usageNow(st.pid).server-before.server)*1e6/float64(pending-have))
		have = pending
		if err := st.analyze(ctx, "future_job"); err != nil {
			return err
		}
		if err := st.set(ctx); err != nil {
			return err
		}
		size, err := st.dataSize(ctx)
		if err != nil {
			return err
		}
		if err := s.setPool(ctx, min(max(size/4, 32<<20), most)); err != nil {
			return err
		}
		pool, err := s.poolSize(ctx)
		if err != nil {
			return err
		}
		b.say("  %d pending: data %d MB, buffer pool %d MB", pending, size>>20, pool>>20)
		var list []contestant
		for _, c := range growForms {
			c.name = growName(c, pending)
			list = append(list, c)
		}
		if err := b.compete(ctx, st, list); err != nil {
			return err
		}
		if err := b.growInserts(ctx, st, pending); err != nil {
			return err
		}
	}
	return nil
}

// growInserts measures what a check adds to the app's own transaction.
func (b *bench) growInserts(ctx context.Context, st *stage, pending int) error {
	if err := st.makeOrders(ctx); err != nil {
		return err
	}
	in := inserts{stage: st, at: st.slot.Add(day), where: fmt.Sprintf(", among %s pending", short(float64(pending)))}
	for round := 1; round <= b.rounds; round++ {
		if err := in.compete(ctx, b, round, in.inTransactions([]int{1}, max(b.scaled(2_000), 500))); err != nil {
			return err
		}
	}
	return nil
}

// dataSize is that of the installation's tables, in bytes. The due rows are in it, but not the bench's own tables.
func (st *stage) dataSize(ctx context.Context) (bytes int, err error) {
	err = st.app.QueryRowContext(ctx, `SELECT CAST(SUM(data_length + index_length) AS SIGNED) FROM information_schema.tables
		WHERE table_schema = DATABASE() AND table_name IN ('future_job', 'job_history')`).Scan(&bytes)
	return bytes, err
}

// poolSize is that of the server's buffer pool.
func (s *server) poolSize(ctx context.Context) (bytes int, err error) {
	db, err := sqlx.Open("mysql", s.dsn(""))
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return bytes, db.GetContext(ctx, &bytes, "SELECT @@innodb_buffer_pool_size")
}

// setPool sets it, and waits for at most a minute until it is so. A server that will not give memory back goes on with
// what it has, which the log and the page tell.
func (s *server) setPool(ctx context.Context, bytes int) error {
	db, err := sqlx.Open("mysql", s.dsn(""))
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
		if err := pause(ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// growPurge lets a worker sweep slots of the past, a turn each, without and with a transaction open since before the
// first: what earlier turns deleted then still lies in the table.
func (b *bench) growPurge(ctx context.Context, s *server) (err error) {
	st, err := b.makeStage(ctx, s, "purge", b.scaled(200_000), b.scaled(1_000_000))
	if err != nil {
		return err
	}
	if !b.keep {
		defer st.drop(ctx)
	}
	turns := b.rounds + 2
	for _, open := range []bool{false, true} {
		name := "prescient, an overdue slot swept"
		if open {
			name = "prescient, the same, with a transaction open since %d such slots before"
			conn, err := st.app.Conn(ctx)
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
			slot := st.slot.AddDate(0, 0, turn-2*turns)
			if open {
				slot = slot.AddDate(0, 0, turns)
			}
			if err := st.setOverdue(ctx, slot); err != nil {
				return err
			}
			title := name
			if open {
				title = fmt.Sprintf(name, turn)
			}
			if _, err := b.took(title, 1, []int{st.pid}, func() (int, error) { return st.due, st.sweep(ctx) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// setOverdue makes the due rows those of a slot that is past.
func (st *stage) setOverdue(ctx context.Context, slot time.Time) error {
	at := slot.Format(time.DateTime)
	for _, query := range []string{
		"UPDATE bench_due SET due_at = '" + at + "', first_check_at = '" + at + "', next_check_at = '" + at + "'",
		"INSERT INTO future_job SELECT * FROM bench_due",
	} {
		if _, err := st.exec(ctx, query); err != nil {
			return err
		}
	}
	return st.awaitCalm(ctx)
}

// sweep runs what is overdue.
func (st *stage) sweep(ctx context.Context) error {
	l := workload{Form: "one"}
	w, err := worker.New(ctx, st.db, worker.Options{Registry: l.registry(st.db)})
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
	if rows != st.due {
		return fmt.Errorf("%d rows were swept; want %d", rows, st.due)
	}
	return nil
}
