package rig

import (
	"bytes"
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// plan is one line of an EXPLAIN, by the names of its columns in lower case; NULL is empty.
type plan map[string]string

func (p plan) String() string {
	return fmt.Sprintf("%s %s: type %s, key %s (%s), rows %s, %s", p["select_type"], p["table"], p["type"], p["key"],
		p["key_len"], p["rows"], p["extra"])
}

// Explained is a statement, as the library sends it, and how its tables must be reached: table, or the alias that it
// has in the statement, to key and bytes of the key that are used.
type Explained struct {
	Statement string // the file's name, and after a blank what is special about this use of it
	Query     string
	Args      []any
	Reached   map[string]string
}

const (
	BySlot       = "PRIMARY 5"  // of future_job: next_check_at
	BySlotAndKey = "PRIMARY 21" // next_check_at and job_key
	ByKey        = "job_key 16"
	ByBucket     = "PRIMARY 7" // of slot_run: slot and bucket
	ByConfig     = "PRIMARY 1"
)

// Check explains the statement and compares.
func (e Explained) Check(t *testing.T, conn *sql.Conn) {
	t.Helper()
	lines := explain(t, conn, e.Query, e.Args)
	text := fmt.Sprintf("%.400s\n%s", e.Query, join(lines))
	seen := make(map[string]bool)
	for _, line := range lines {
		if extra := line["extra"]; strings.Contains(extra, "filesort") && !e.sorts(line) || strings.Contains(extra, "temporary") && !e.copies(line) {
			t.Errorf("sorts or copies:\n%s", text)
		}
		want, ours := e.Reached[line["table"]]
		if !ours {
			// The target of an INSERT, JSON_TABLE, results of subqueries, and what InnoDB says of itself have no key.
			switch made := line["table"]; {
			case line["select_type"] == "INSERT", made == "", made == "moved", made == "ended", made == "few", strings.HasPrefix(made, "<"):
			case made == "metric", made == "trx":
			default:
				t.Errorf("table %s is not expected:\n%s", made, text)
			}
			continue
		}
		seen[line["table"]] = true
		switch line["type"] {
		case "system", "const", "eq_ref", "ref", "range":
		case "index", "ALL":
			if line["table"] != "p_job_pause" { // all of its few rows are wanted
				t.Errorf("%s is scanned (type %s):\n%s", line["table"], line["type"], text)
			}
			if line["type"] == "ALL" { // how MariaDB 11.8 calls it: the table is its primary key
				continue
			}
		default:
			t.Errorf("%s is scanned (type %s):\n%s", line["table"], line["type"], text)
		}
		if got := line["key"] + " " + line["key_len"]; got != want {
			t.Errorf("%s is reached by %q; want %q:\n%s", line["table"], got, want, text)
		}
	}
	for table := range e.Reached {
		if !seen[table] {
			t.Errorf("the plan has no %s:\n%s", table, text)
		}
	}
}

// copies says whether a temporary table is in the nature of the statement: JSON_TABLE is one, and an UPDATE that moves
// rows along the index that it reads them by collects them first.
func (e Explained) copies(line plan) bool {
	return line["table"] == "moved" || line["table"] == "ended" || line["select_type"] == "UPDATE" &&
		(strings.HasPrefix(e.Statement, "sweep/roll_forward") || strings.HasPrefix(e.Statement, "client/reschedule_many"))
}

// sorts says whether it sorts no more than a list that is part of the statement.
func (e Explained) sorts(line plan) bool {
	return strings.HasPrefix(line["table"], "<derived") && strings.HasPrefix(e.Statement, "schedule/event_copied")
}

func join(lines []plan) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("  " + line.String() + "\n")
	}
	return b.String()
}

func explain(t *testing.T, conn *sql.Conn, query string, args []any) (lines []plan) {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), "EXPLAIN FORMAT=TRADITIONAL "+query, args...)
	if err != nil {
		t.Fatalf("EXPLAIN %.1500s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		line := make(plan)
		for i, column := range columns {
			line[strings.ToLower(column)] = values[i].String
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// Filled is an installation with 20,000 pending rows in 50 slots, the second of which has a third of them and the third
// a handful, 5,000 ends, and a ledger of 4,000 rows.
type Filled struct {
	Tables store.Tables
	Slots  []time.Time
	Jobs   map[time.Time][]prescient.FutureJob // by slot
}

const (
	FilledRows  = 20000
	BigSlot     = 1
	SmallSlot   = 2
	filledSlots = 50
)

// Fill fills the tables.
func (r *Rig) Fill() *Filled {
	r.T.Helper()
	pool := r.Pool(time.Time{})
	t, err := store.OpenTables(r.T.Context(), pool, "p_", 0, r.Setting)
	r.Must(err)
	f := &Filled{Tables: t, Jobs: make(map[time.Time][]prescient.FutureJob)}
	for i := range filledSlots {
		f.Slots = append(f.Slots, At("06:00").Add(time.Duration(i)*15*time.Minute))
	}
	all := make([]prescient.FutureJob, FilledRows)
	keys := make(map[string]prescient.Key, FilledRows) // sorting asks for each many times
	for i := range all {
		slot := i % filledSlots
		if slot == SmallSlot && i > 8*filledSlots || i%3 == 0 {
			slot = BigSlot
		}
		all[i] = prescient.FutureJob{EntityName: "order", EntityKey: fmt.Sprint(i), JobExec: fmt.Sprint("exec", i%5), Revision: uint64(i + 1),
			DueAt: f.Slots[slot], FirstCheckAt: f.Slots[slot], NextCheckAt: f.Slots[slot], InsertedAt: At("05:00")}
		keys[all[i].EntityKey] = all[i].Key()
	}
	slices.SortFunc(all, func(a, b prescient.FutureJob) int {
		x, y := keys[a.EntityKey], keys[b.EntityKey]
		return cmp.Or(a.NextCheckAt.Compare(b.NextCheckAt), bytes.Compare(x[:], y[:]))
	})
	for part := range slices.Chunk(all, 1000) {
		var rows []string
		for _, job := range part {
			f.Jobs[job.NextCheckAt] = append(f.Jobs[job.NextCheckAt], job)
			slot := job.NextCheckAt.Format(literal.SecondLayout)
			rows = append(rows, fmt.Sprintf("('order', '%s', '%s', '', X'%s', '%s', '%s', '%s', %d)", job.EntityKey, job.JobExec, job.Key(), slot, slot, slot, job.Revision))
		}
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, tag, job_key, due_at, first_check_at, next_check_at, revision) VALUES " + strings.Join(rows, ","))
	}
	for i := range 5 {
		var rows []byte
		for n := range 1000 {
			job := all[i*1000+n]
			end := At("04:00").Add(time.Duration(n) * time.Second)
			if n > 0 {
				rows = append(rows, ',')
			}
			rows = store.AppendEnd(rows, store.End{Job: job, Key: job.Key(), Outcome: prescient.Done, Started: end, Ended: end, Worker: "w"})
		}
		r.Exec(f.Tables.Fill("slotrun/history_insert", "{rows}", string(rows)))
	}
	var ledger []string
	for i := range 2000 {
		slot := At("06:00").Add(-time.Duration(i) * 15 * time.Minute).Format(literal.SecondLayout)
		ledger = append(ledger, fmt.Sprintf("('%s',0,2),('%s',1,2)", slot, slot))
	}
	r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets) VALUES " + strings.Join(ledger, ","))
	for _, table := range []string{"future_job", "job_history", "slot_run", "slot_config"} {
		rows, err := pool.QueryContext(r.T.Context(), "ANALYZE TABLE p_"+table)
		r.Must(err)
		r.Must(rows.Close())
	}
	return f
}

// Some returns n rows of a slot, or as many as it has.
func (f *Filled) Some(slot, n int) []prescient.FutureJob {
	all := f.Jobs[f.Slots[slot]]
	return all[:min(n, len(all))]
}

// Reads returns how many entries of tables and indexes a query read.
func Reads(t *testing.T, conn *sql.Conn, query string, args ...any) int {
	t.Helper()
	return ReadsOf(t, conn, func() {
		rows, err := conn.QueryContext(t.Context(), query, args...)
		Fatal(t, err)
		for rows.Next() {
		}
		Fatal(t, rows.Close())
	})
}

// ReadsOf returns how many entries of tables and indexes are read meanwhile on one connection, or a pool of one.
func ReadsOf(t *testing.T, db querier, do func()) int {
	t.Helper()
	sum := func() (n int) {
		for v := range maps.Values(tally(t, db, "SHOW SESSION STATUS LIKE 'Handler_read%'")) {
			n += v
		}
		return n
	}
	sum()
	before := sum()
	idle := sum() - before // what SHOW STATUS itself reads
	do()
	return sum() - before - 2*idle
}
