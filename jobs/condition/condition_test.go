package condition

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/connect"
)

// 1,000 checks: of orders that are shipped, that are not, that are gone, and with keys that are none.
func TestEachCheckOfABatchIsAnsweredByItself(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		var keys, rows []string
		for i := range 1000 {
			key := fmt.Sprint(i)
			switch {
			case i < 400:
				rows = append(rows, "("+key+", NULL)")
			case i < 800:
				rows = append(rows, "("+key+", NOW())")
			case i >= 900:
				key = fmt.Sprintf("%dabc", i%400) // a server takes it for the number
			}
			keys = append(keys, key)
		}
		r.exec("INSERT INTO orders (id, shipped_at) VALUES " + strings.Join(rows, ", "))
		r.insert(keys...)
		c := r.condition(func(o *Options) {
			o.Topics, o.Set, o.Again = []string{"orders.late", "orders.lost"}, "alerts = alerts + 1, alerted_at = UTC_TIMESTAMP(6)", []time.Duration{time.Hour}
		})
		r.must(c.Load(t.Context()))
		r.run("13:15", c)
		type want struct {
			what, query string
			n           int
		}
		check := func(all ...want) {
			t.Helper()
			for _, w := range all {
				if n := r.count(w.query); n != w.n {
					t.Errorf("%s: %d; want %d", w.what, n, w.n)
				}
			}
		}
		check(want{"done: shipped, or gone", "SELECT COUNT(*) FROM p_job_history WHERE outcome = 'done'", 500},
			want{"to be looked at again, an hour after they were due", "SELECT COUNT(*) FROM p_future_job WHERE due_at = '2026-11-20 14:05:00' AND check_count = 1 AND error_count = 0", 400},
			want{"keys that are none", "SELECT COUNT(*) FROM p_future_job WHERE error_count = 1 AND check_count = 0 AND last_error LIKE CONCAT('%order/', entity_key, ' is no whole number%')", 100},
			want{"events", "SELECT COUNT(DISTINCT event_key) FROM p_event_outbox WHERE topic = 'orders.late'", 400},
			want{"events of open orders", "SELECT COUNT(*) FROM p_event_outbox e JOIN orders o ON e.event_key = CONCAT('order/', o.id) WHERE o.shipped_at IS NULL", 400},
			want{"set once", "SELECT COUNT(*) FROM orders WHERE alerts = 1 AND alerted_at IS NOT NULL AND shipped_at IS NULL", 400},
			want{"set at all", "SELECT SUM(alerts) FROM orders", 400})
		r.exec("UPDATE orders SET shipped_at = NOW() WHERE id < 300")
		r.run("14:15", c)
		check(want{"events of the second time", "SELECT COUNT(*) FROM p_event_outbox WHERE topic = 'orders.lost'", 100},
			want{"set twice", "SELECT COUNT(*) FROM orders WHERE alerts = 2", 100},
			want{"done: the list is over", "SELECT COUNT(*) FROM p_job_history WHERE outcome = 'done'", 900})
	})
}

func TestOnServers(t *testing.T) {
	tests := map[string]func(t *testing.T, r *rig){
		"a row is set once, or not at all":          setsOnceOrNotAtAll,
		"a look is bounded":                         looksAreBounded,
		"a condition is explained at load":          isExplainedAtLoad,
		"a text is compared as it is written":       textsAreComparedAsWritten,
		"calls end before the time of their batch":  callsEndInTime,
		"a server that is away is an error of each": aServerThatIsAway,
		"a row that cannot be told costs itself":    rowsThatCannotBeTold,
	}
	eachFlavour(t, func(t *testing.T, r *rig) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				own := *r
				own.t = t
				own.exec("DELETE FROM orders")
				own.exec("DELETE FROM p_event_outbox")
				test(t, &own)
			})
		}
	})
}

// An app has written numbers of which the server cannot tell the difference, since it is below 0: each of those checks fails by itself.
func rowsThatCannotBeTold(t *testing.T, r *rig) {
	r.exec("CREATE TABLE items (id BIGINT PRIMARY KEY, ordered INT UNSIGNED NOT NULL, sent INT UNSIGNED NOT NULL)")
	r.exec("GRANT SELECT ON items TO " + r.account("reader"))
	var keys, rows []string
	for i := range mostKeys + 100 {
		sent := i % 2
		if i == 7 || i == mostKeys-1 || i > mostKeys && i < mostKeys+20 {
			sent = 2
		}
		keys, rows = append(keys, fmt.Sprint(i)), append(rows, fmt.Sprintf("(%d, 1, %d)", i, sent))
	}
	r.exec("INSERT INTO items VALUES " + strings.Join(rows, ", "))
	c := r.condition(func(o *Options) {
		o.Table, o.While, o.Read = "items", "ordered - sent > 0", r.pool(r.reader, time.Time{})
	})
	batch := r.inTx(c, (*sqlx.Tx).Commit, keys...)
	failed := 0
	for i := range keys {
		_, err := batch.Answer(i)
		if err == nil {
			continue
		}
		if failed++; !strings.Contains(err.Error(), "looking at order/"+keys[i]+" in items: ") || !strings.Contains(err.Error(), "out of range") {
			t.Error(err)
		}
	}
	if n := r.count("SELECT COUNT(*) FROM p_event_outbox"); failed != 21 || n != 291 {
		t.Errorf("%d failed, and of %d an event was published", failed, n)
	}
	r.exec("UPDATE items SET sent = 2")
	if batch := r.inTx(c, (*sqlx.Tx).Commit, keys...); !strings.Contains(said(batch, len(keys)-1), "out of range") {
		t.Error(said(batch, len(keys)-1))
	}
	r.exec("ALTER TABLE items DROP COLUMN sent") // the statement is to blame
	if got := said(r.inTx(c, (*sqlx.Tx).Commit, "1", "2"), 0); !strings.Contains(got, "looking at 2 keys of items: ") {
		t.Error(got)
	}
}

func setsOnceOrNotAtAll(t *testing.T, r *rig) {
	r.exec("INSERT INTO orders (id, shipped_at) VALUES (1, NULL), (2, NULL), (3, NULL)")
	c := r.condition(func(o *Options) { o.Set = "alerts = alerts + 1" })
	rollBack, commit := (*sqlx.Tx).Rollback, (*sqlx.Tx).Commit

	r.inTx(c, rollBack, "1", "2", "3") // a worker that dies
	if n := r.count("SELECT SUM(alerts) + (SELECT COUNT(*) FROM p_event_outbox) FROM orders"); n != 0 {
		t.Errorf("%d effects of a transaction that was rolled back", n)
	}

	f, err := c.load(t.Context())
	r.must(err)
	found, err := f.lookFor(t.Context(), c.options.Read, c.options.While, []string{"1", "2", "3", "4"})
	r.must(err)
	if len(found.met) != 3 {
		t.Fatalf("%v meet the condition", found.met)
	}
	r.exec("UPDATE orders SET shipped_at = NOW() WHERE id = 2") // after the look
	app, err := r.root.BeginTx(t.Context(), nil)
	r.must(err)
	defer app.Rollback()
	_, err = app.Exec("UPDATE orders SET customer = 7 WHERE id = 3") // and holds the row
	r.must(err)
	tx, err := c.options.Write.BeginTxx(t.Context(), nil)
	r.must(err)
	defer tx.Rollback()
	done, held, err := f.set(t.Context(), tx, c.options.Set, c.options.While, []string{"1", "2", "3", "4"})
	r.must(err)
	if len(done) != 1 || !done["1"] || len(held) != 1 || !held["3"] {
		t.Errorf("set %v, held %v; want 1 and 3", done, held)
	}
	r.must(tx.Rollback())

	batch := r.inTx(c, commit, "1", "2", "3", "4")
	if got := []string{said(batch, 0), said(batch, 1), said(batch, 2), said(batch, 3)}; got[0] != "settled" || got[1] != "settled" ||
		!strings.Contains(got[2], "another transaction has the row of order/3 locked: try again in the next slot") || got[3] != "settled" {
		t.Errorf("%q", got)
	}
	r.must(app.Commit())
	r.inTx(c, commit, "3")
	if n := r.count("SELECT COUNT(*) FROM orders WHERE alerts = IF(id = 2, 0, 1)"); n != 3 {
		t.Errorf("%d orders are set once, or not at all; want 3", n)
	}
	if n := r.count("SELECT COUNT(*) FROM p_event_outbox"); n != 2 {
		t.Errorf("%d events; want those of 1 and 3", n)
	}
}

// A batch whose time is over has no answers at all: so each call is given up before that.
func callsEndInTime(t *testing.T, r *rig) {
	var rows, keys []string
	for i := range mostCalls + 3 {
		rows, keys = append(rows, fmt.Sprintf("(%d)", i)), append(keys, fmt.Sprint(i))
	}
	r.exec("INSERT INTO orders (id) VALUES " + strings.Join(rows, ", "))
	c := r.condition(func(o *Options) {
		o.Topics, o.Again = nil, []time.Duration{time.Hour}
		o.Call = func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
			if job.EntityKey == "0" {
				return nil, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	batch := prescient.NewBatch(r.jobs(append(keys, "999")...)...)
	r.must(c.calls(ctx, batch))
	if ctx.Err() != nil {
		t.Error("the time of the batch is over")
	}
	uncalled := 0
	for i := range keys {
		if strings.Contains(said(batch, i), "was not called within the time of its batch") {
			uncalled++
		}
	}
	if said(batch, 0) != "14:05" || said(batch, len(keys)) != "settled" || uncalled != 2 || said(batch, 1) != "context deadline exceeded" {
		t.Errorf("called: %s, gone: %s, %d not called; want 2; given up: %s", said(batch, 0), said(batch, len(keys)), uncalled, said(batch, 1))
	}
}

// What could not be loaded is loaded by the first call that reaches the server.
func aServerThatIsAway(t *testing.T, r *rig) {
	away := r.condition(func(o *Options) {
		db, err := connect.Open("reader:secret@tcp(127.0.0.1:1)/shop", 0)
		r.must(err)
		t.Cleanup(func() { db.Close() })
		o.Read = db
	})
	if err := away.Load(t.Context()); !connect.IsUnreachable(err) {
		t.Fatalf("loading: %v", err)
	}
	batch := r.inTx(away, (*sqlx.Tx).Commit, "1", "2", "x")
	for i := range batch.Jobs() {
		if got := said(batch, i); !strings.Contains(got, "loading the condition on orders") || !strings.Contains(got, "refused") || strings.Contains(got, "secret") {
			t.Errorf("row %d: %s", i, got)
		}
	}
	away.options.Read = r.pool(r.reader, time.Time{})
	r.exec("INSERT INTO orders (id) VALUES (1)")
	batch = r.inTx(away, (*sqlx.Tx).Commit, "1", "2")
	r.exec("ALTER TABLE orders RENAME COLUMN shipped_at TO sent_at")
	renamed := r.inTx(away, (*sqlx.Tx).Commit, "1")
	r.exec("ALTER TABLE orders RENAME COLUMN sent_at TO shipped_at")
	if got := said(renamed, 0); !strings.Contains(got, "Unknown column 'shipped_at'") || away.column.Load() != nil {
		t.Errorf("a table that was altered: %s", got)
	}
	if said(batch, 0) != "settled" || said(batch, 1) != "settled" || r.count("SELECT COUNT(*) FROM p_event_outbox") != 1 {
		t.Errorf("once it is there: %s, %s", said(batch, 0), said(batch, 1))
	}
}

func looksAreBounded(t *testing.T, r *rig) {
	r.exec("INSERT INTO orders (id) VALUES (1), (2)")
	slow := r.condition(func(o *Options) {
		o.While, o.Timeout = "SLEEP(20) = 0", 2*time.Second
		db, err := connect.OpenWith(r.reader, connect.Options{StatementTime: LookTime(o.Timeout)}) // where the server ends it, too
		r.must(err)
		t.Cleanup(func() { db.Close() })
		o.Read = db
	})
	r.must(slow.Load(t.Context()))
	began := time.Now()
	batch := r.inTx(slow, (*sqlx.Tx).Rollback, "1", "2")
	if took := time.Since(began); took > 10*time.Second || !strings.Contains(said(batch, 1), "looking at orders took more than 1s") {
		t.Errorf("after %s: %s", took, said(batch, 1))
	}

	r.exec("CREATE TABLE log (n INT)")
	r.exec("CREATE FUNCTION note() RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN INSERT INTO log VALUES (1); RETURN 1; END")
	writes := r.condition(func(o *Options) { o.Read, o.While = sqlx.NewDb(r.root, "mysql"), "note() = 1" })
	batch = r.inTx(writes, (*sqlx.Tx).Rollback, "1")
	if !strings.Contains(said(batch, 0), "READ ONLY") || r.count("SELECT COUNT(*) FROM log") != 0 {
		t.Errorf("a condition that writes: %s", said(batch, 0))
	}
}

func isExplainedAtLoad(t *testing.T, r *rig) {
	r.exec("INSERT INTO orders (id) VALUES (1), (2)")
	r.exec("DROP TABLE IF EXISTS parcels")
	r.exec("CREATE TABLE parcels (id INT PRIMARY KEY, order_id BIGINT NOT NULL, number VARCHAR(20) NOT NULL)")
	r.exec("INSERT INTO parcels SELECT a.seq * 50 + b.seq, a.seq, a.seq FROM (" + numbers + ") a, (" + numbers + ") b")
	r.exec("ANALYZE TABLE parcels")
	r.exec("CREATE TABLE late (id INT PRIMARY KEY, n INT, KEY (n), name VARCHAR(10), code INT UNIQUE)")
	config := r.reader
	all := func(o *Options) { o.Read = sqlx.NewDb(r.root, "mysql") }
	r.must(r.condition(nil).Load(t.Context()))
	r.refused("sees no column id of a table late", func(o *Options) { o.Table = "late" })
	r.refused("sees no column nr", func(o *Options) { o.Column = "nr" })
	r.refused("has no index that begins with column customer", func(o *Options) { o.Column = "customer" })
	r.refused("column number of parcels is varchar(20)", func(o *Options) { all(o); o.Table, o.Column = "parcels", "number" })
	r.refused("column id of orders is bigint", func(o *Options) { o.Key = Text })
	r.refused("the server refuses it", func(o *Options) { o.While = "shipped IS NULL" })
	r.refused("the server refuses it", func(o *Options) { o.While = "shipped_at IS IS NULL" })
	r.refused("the server refuses it", func(o *Options) { o.While = "1 = 1 UNION SELECT 1" })
	r.refused("the server refuses it", func(o *Options) { o.While = "1 = 1 INTO OUTFILE '/tmp/x'" })
	r.refused("SELECT and UPDATE on late", func(o *Options) { all(o); o.Table, o.While, o.Set = "late", "n = 1", "n = 2" })
	r.refused("unique index, of column n of late alone", func(o *Options) { all(o); o.Table, o.Column, o.While, o.Set = "late", "n", "n = 1", "n = 2" })
	r.refused("the server refuses it", func(o *Options) { o.Set = "nothing = 1" })
	whole := func(o *Options) {
		all(o)
		o.While = "NOT EXISTS (SELECT 1 FROM parcels p WHERE p.order_id + 0 = orders.id)"
	}
	r.refused("the server would read all of p ", whole)
	for name, change := range map[string]func(o *Options){
		"a scan that is allowed":        func(o *Options) { whole(o); o.Scan = true },
		"a column that is allowed":      func(o *Options) { o.Column, o.Scan = "customer", true },
		"an index of several rows":      func(o *Options) { all(o); o.Table, o.Column, o.While = "late", "n", "n = 1" },
		"a unique index":                func(o *Options) { all(o); o.Table, o.Column, o.While = "late", "code", "n = 1" },
		"a subquery with a key":         func(o *Options) { all(o); o.While = "NOT EXISTS (SELECT 1 FROM parcels p WHERE p.id = orders.id)" },
		"a line break at the end":       func(o *Options) { o.While += "\n" },
		"an account that may only read": func(o *Options) { o.Read = r.pool(config, time.Time{}) },
	} {
		if err := r.condition(change).Load(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const numbers = "SELECT 1 + x.n + 5 * y.n AS seq FROM (SELECT 0 n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4) x, (SELECT 0 n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) y"

func textsAreComparedAsWritten(t *testing.T, r *rig) {
	long := strings.Repeat("🙂", 122) // as long as one may be whose event has the entity as its key
	for charset, rows := range map[string][]string{"utf8mb4": {"abc", "Zoë", long, `it's "a" \ 'b`, "42", "ß"}, "latin1": {"abc", "Zoë", "42"}, "ascii": {"abc", "42"}} {
		r.exec("DROP TABLE IF EXISTS parcels")
		r.exec("CREATE TABLE parcels (id VARCHAR(255) PRIMARY KEY, n INT NOT NULL DEFAULT 0) CHARACTER SET " + charset)
		for _, row := range rows {
			r.exec("INSERT INTO parcels (id) VALUES (?)", row)
		}
		c := r.condition(func(o *Options) {
			o.Read, o.Write, o.Table, o.Key, o.While, o.Again = sqlx.NewDb(r.root, "mysql"), sqlx.NewDb(r.root, "mysql"), "parcels", Text, "n = 0", []time.Duration{time.Hour}
		})
		r.must(c.Load(t.Context()))
		f, err := c.load(t.Context())
		r.must(err)
		keys := []string{"abc", "Zoë", long, `it's "a" \ 'b`, "42", "ABC", "abc ", "Zoe", "gone", "4", "ss"}
		batch := r.inTx(c, (*sqlx.Tx).Rollback, keys...)
		for i, key := range keys {
			got := said(batch, i)
			switch is := contains(rows, key); {
			case is && got != "14:05":
				t.Errorf("%s: %.20q, which is there: %s", charset, key, got)
			case !is && got == "14:05":
				t.Errorf("%s: %.20q, which is not there, is acted on", charset, key)
			case key == "gone" && got != "settled", key == "ABC" && !strings.Contains(got, `is written "abc" in parcels`):
				t.Errorf("%s: %q: %s", charset, key, got)
			case key == "Zoe" && charset == "utf8mb4" && !strings.Contains(got, `is written "Zoë"`):
				t.Errorf("%s: %q: %s", charset, key, got)
			}
		}
		var plan struct {
			Type string
			Key  *string
		}
		r.must(sqlx.NewDb(r.root, "mysql").Unsafe().Get(&plan, f.explain+f.selectKeys(c.options.While, []string{"abc", "ABC"})))
		if plan.Key == nil || *plan.Key != "PRIMARY" || plan.Type == "ALL" || plan.Type == "index" {
			t.Errorf("%s: the plan is %+v", charset, plan)
		}
	}
}

func contains(list []string, one string) bool {
	for _, other := range list {
		if other == one {
			return true
		}
	}
	return false
}
