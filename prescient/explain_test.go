package prescient

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	text "prescient/sql"
)

// plan is one line of an EXPLAIN, by the names of its columns in lower case; NULL is empty.
type plan map[string]string

func (p plan) String() string {
	return fmt.Sprintf("%s %s: type %s, key %s (%s), rows %s, %s", p["select_type"], p["table"], p["type"], p["key"],
		p["key_len"], p["rows"], p["extra"])
}

// explained is a statement, as the library sends it, and how its tables must be reached: table, or the alias that it
// has in the statement, to key and bytes of the key that are used.
type explained struct {
	statement string // the file's name, and after a blank what is special about this use of it
	query     string
	args      []any
	reached   map[string]string
}

const (
	bySlot       = "PRIMARY 5"  // of future_job: next_check_at
	bySlotAndKey = "PRIMARY 21" // next_check_at and job_key
	byKey        = "job_key 16"
	byBucket     = "PRIMARY 7" // of slot_run: slot and bucket
	byConfig     = "PRIMARY 1"
)

func TestNoStatementOfAHotPathScansATableOrSorts(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, readPlans)
		r.also("worker", "SELECT", "p_job_history")
		f := fill(t, r)
		conn, err := f.w.db.Conn(t.Context())
		r.must(err)
		defer conn.Close()
		covered := make(map[string]bool)
		for _, e := range slices.Concat(f.clientStatements(), f.slotRunStatements(), f.listStatements(), f.sweepStatements()) {
			name, _, _ := strings.Cut(e.statement, " ")
			covered[name] = true
			t.Run(strings.ReplaceAll(e.statement, " ", "_"), func(t *testing.T) { e.check(t, conn) })
		}
		t.Run("overdue slots", func(t *testing.T) { f.overdueReadsLittle(t, conn) })
		for name := range f.w.stmt {
			hot := !strings.HasPrefix(name, "list/") && !strings.HasPrefix(name, "prune/") && !strings.HasPrefix(name, "operate/")
			if unused := name == "slotrun/history_locked" && r.server != text.MariaDB; hot && !unused && !covered[name] {
				t.Errorf("%s is not explained here", name)
			}
		}
	})
}

// check explains the statement and compares.
func (e explained) check(t *testing.T, conn *sql.Conn) {
	t.Helper()
	lines := explain(t, conn, e.query, e.args)
	text := fmt.Sprintf("%.400s\n%s", e.query, join(lines))
	seen := make(map[string]bool)
	for _, line := range lines {
		if extra := line["extra"]; strings.Contains(extra, "filesort") || strings.Contains(extra, "temporary") && !e.copies(line) {
			t.Errorf("sorts or copies:\n%s", text)
		}
		want, ours := e.reached[line["table"]]
		if !ours {
			// The target of an INSERT, JSON_TABLE, and results of subqueries have no key.
			switch made := line["table"]; {
			case line["select_type"] == "INSERT", made == "", made == "moved", made == "ended", made == "few", strings.HasPrefix(made, "<"):
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
	for table := range e.reached {
		if !seen[table] {
			t.Errorf("the plan has no %s:\n%s", table, text)
		}
	}
}

// copies says whether a temporary table is in the nature of the statement: JSON_TABLE is one, and an UPDATE that moves
// rows along the index that it reads them by collects them first.
func (e explained) copies(line plan) bool {
	return line["table"] == "moved" || line["table"] == "ended" || line["select_type"] == "UPDATE" && strings.HasPrefix(e.statement, "sweep/roll_forward")
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

// filled is an installation with 20,000 pending rows in 50 slots, the second of which has a third of them and the third
// a handful, 5,000 ends, and a ledger of 4,000 rows.
type filled struct {
	w     *Worker
	c     *Client
	slots []time.Time
	jobs  map[time.Time][]FutureJob // by slot
}

const (
	filledRows  = 20000
	bigSlot     = 1
	smallSlot   = 2
	filledSlots = 50
)

func fill(t *testing.T, r *rig) *filled {
	t.Helper()
	f := &filled{w: r.worker(time.Time{}, NewRegistry(), WorkerOptions{}), c: r.client, jobs: make(map[time.Time][]FutureJob)}
	for i := range filledSlots {
		f.slots = append(f.slots, at("06:00").Add(time.Duration(i)*15*time.Minute))
	}
	jobs := make([]NewJob, filledRows)
	for i := range jobs {
		slot := i % filledSlots
		if slot == smallSlot && i > 8*filledSlots || i%3 == 0 {
			slot = bigSlot
		}
		jobs[i] = NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: fmt.Sprint("exec", i%5), DueAt: f.slots[slot]}
	}
	did, err := r.client.InsertMany(t.Context(), r.appAt(at("05:00")), jobs)
	r.must(err)
	if len(did) != filledRows {
		t.Fatalf("%d rows inserted; want %d", len(did), filledRows)
	}
	pool := r.pool(time.Time{})
	pending, err := r.client.Pending(t.Context(), pool, ListFilter{Limit: MaxPage})
	r.must(err)
	for _, job := range pending {
		f.jobs[job.NextCheckAt] = append(f.jobs[job.NextCheckAt], job)
	}
	for i := range 5 {
		var rows []byte
		for n := range 1000 {
			job := pending[i*1000+n]
			end := at("04:00").Add(time.Duration(n) * time.Second)
			if n > 0 {
				rows = append(rows, ',')
			}
			rows = appendHistory(rows, historyRow{job: job, key: job.Key(), outcome: Done, started: end, ended: end, worker: "w"})
		}
		_, err := pool.ExecContext(t.Context(), f.w.fill("slotrun/history_insert", "{rows}", string(rows)))
		r.must(err)
	}
	var ledger []string
	for i := range 2000 {
		slot := at("06:00").Add(-time.Duration(i) * 15 * time.Minute).Format(secondLayout)
		ledger = append(ledger, fmt.Sprintf("('%s',0,2),('%s',1,2)", slot, slot))
	}
	_, err = pool.ExecContext(t.Context(), "INSERT INTO p_slot_run (slot, bucket, buckets) VALUES "+strings.Join(ledger, ","))
	r.must(err)
	for _, table := range []string{"future_job", "job_history", "slot_run", "slot_config"} {
		rows, err := pool.QueryContext(t.Context(), "ANALYZE TABLE p_"+table)
		r.must(err)
		r.must(rows.Close())
	}
	return f
}

// some returns n rows of a slot, or as many as it has.
func (f *filled) some(slot, n int) []FutureJob {
	all := f.jobs[f.slots[slot]]
	return all[:min(n, len(all))]
}

func (f *filled) clientStatements() []explained {
	job := f.some(bigSlot, 1)[0]
	key := literal(appendKey, job.Key())
	one := map[string]string{"p_future_job": bySlotAndKey}
	alias := map[string]string{"job": bySlotAndKey}
	found := map[string]string{"job": byKey}
	where := f.c.identity(job)
	write := append(slices.Clone(where), "{due_at}", literal(appendMicro, job.DueAt), "{next_check_at}",
		literal(appendSecond, f.slots[5]), "{payload}", "NULL", "{new_revision}", "7")
	find := func(condition, lock string) string {
		return f.c.fill("client/find", "{columns}", textColumns, "{keys}", condition, "{lock}", lock)
	}
	first, last := entityRange(job.Entity())
	entity := "job.job_key BETWEEN " + literal(appendKey, first) + " AND " + literal(appendKey, last)
	row := string(appendRow(nil, &NewJob{Entity: Entity{"order", "new"}, JobExec: "x"}, Key{1}, textOf(job.DueAt, f.slots[3]), true))
	list := []explained{
		{"client/now", f.c.stmt.Get("client/now"), nil, map[string]string{"p_slot_config": byConfig}},
		{"client/look", f.c.fill("client/look", "{columns}", textColumns, "{key}", key), nil,
			map[string]string{"job": byKey, "config": byConfig}},
		{"client/insert", f.c.insertOf(NewJob{Entity: Entity{"order", "new"}}, Key{1}, job.DueAt, f.slots[3]), nil, nil},
		{"client/insert of 1000", f.c.insertRows([]byte(strings.Repeat(row+",", 999)+row), true), nil, nil},
		{"client/hold", f.c.fill("client/hold", where...), nil, one},
		{"client/delete", f.c.fill("client/delete", where...), nil, alias},
		{"client/bookends_away", f.c.fill("client/bookends_away", "{slot}", literal(appendSecond, bookendSlot), "{keys}", keyList([]Key{first, last}, func(k Key) Key { return k })), nil, alias},
		{"client/replace", f.c.fill("client/replace", write...), nil, one},
		{"client/reschedule", f.c.fill("client/reschedule", write...), nil, one},
	}
	for lock, name := range map[string]string{"": "", "FOR UPDATE": ", locking"} {
		list = append(list,
			explained{"client/find by key" + name, find("job.job_key = "+key, lock), nil, found},
			explained{"client/find by entity" + name, find(entity, lock), nil, found},
			explained{"client/find between bookends" + name, find("job.job_key > "+literal(appendKey, first)+" AND job.job_key < "+literal(appendKey, last), lock), nil, found})
		for _, n := range []int{2, 999, 1000, 1001} {
			keys := keyList(f.some(bigSlot, n), FutureJob.Key)
			list = append(list, explained{fmt.Sprintf("client/find %d keys%s", n, name), find("job.job_key IN ("+keys+")", lock), nil, found})
		}
	}
	return list
}

func (f *filled) slotRunStatements() []explained {
	w, slot := f.w, at("06:00")
	first, last := bucketRange(1, 4)
	rows := func(keys string) map[string]string { return map[string]string{"p_future_job": keys} }
	bucket := map[string]string{"p_slot_run": byBucket}
	fence := append((&Counts{}).args(), slot, 0, "w", 1, 1)
	history := string(appendHistory(nil, historyRow{job: f.some(0, 1)[0], outcome: Done, worker: "w"}))
	get := w.stmt.Get
	list := []explained{
		{"slotrun/look", get("slotrun/look"), []any{slot}, map[string]string{"p_future_job": bySlot, "p_slot_config": byConfig, "p_job_pause": "PRIMARY 66"}},
		{"slotrun/ledger", get("slotrun/ledger"), []any{slot}, map[string]string{"p_slot_run": bySlot}},
		{"slotrun/open", f.w.fill("slotrun/open", "{buckets}", bucketList([]int{0, 1, 2})), []any{slot, 3, slot}, nil},
		{"slotrun/open_rest", f.w.fill("slotrun/open_rest", "{buckets}", bucketList([]int{1, 2})), []any{slot, 3, slot}, nil},
		{"slotrun/open_empty", get("slotrun/open_empty"), []any{slot, "w", slot}, nil},
		{"slotrun/claim", get("slotrun/claim"), []any{7, "w", 1, slot, 0, 0, 0, 1},
			map[string]string{"p_slot_run": byBucket, "p_slot_config": byConfig}},
		{"slotrun/divide", get("slotrun/divide"), []any{4, slot, 0, 1, 1, 4}, bucket},
		{"slotrun/count_few", get("slotrun/count_few"), []any{f.slots[bigSlot], 8000}, rows(bySlot)},
		{"slotrun/count_sample", get("slotrun/count_sample"), []any{f.slots[bigSlot]}, rows(bySlotAndKey)},
		{"slotrun/attempt", get("slotrun/attempt"), []any{first[:], 1, slot, 0, "w", 1, 1}, bucket},
		{"slotrun/fence", get("slotrun/fence"), append([]any{1}, fence...), bucket},
		{"slotrun/correct", get("slotrun/correct"), append((&Counts{}).args(), slot, 0), bucket},
		{"slotrun/committed", get("slotrun/committed"), []any{slot, 0}, bucket},
		{"slotrun/release", get("slotrun/release"), []any{true, slot, 0, "w", 1}, bucket},
		{"slotrun/give_back", get("slotrun/give_back"), []any{1, 1, first[:], 1, first[:], slot, 0, 1}, bucket},
		{"slotrun/renew", get("slotrun/renew"), []any{1, slot, 0, "w", 1}, bucket},
		{"slotrun/history_done", get("slotrun/history_done"), []any{1, "done", slot, slot, 1, 1, "w", f.slots[bigSlot], first[:], last[:]}, rows(bySlotAndKey)},
		{"slotrun/history_insert", w.fill("slotrun/history_insert", "{rows}", history), nil, nil},
		{"slotrun/history_rights", get("slotrun/history_rights"), nil, nil},
	}
	for name, s := range map[string]int{"big": bigSlot, "small": smallSlot} {
		job := f.some(s, 1)[0]
		list = append(list, explained{"slotrun/history_copy of " + name,
			w.copyEnd(historyRow{job: job, key: job.Key(), outcome: Cancelled}), nil, rows(bySlotAndKey)})
	}
	if w.server == text.MariaDB {
		list = append(list, explained{"slotrun/history_locked", get("slotrun/history_locked"),
			[]any{1, "done", slot, slot, 1, 1, "w", f.slots[bigSlot], first[:], last[:], 1000}, rows(bySlotAndKey)})
	}
	for name, s := range map[string]int{"big": bigSlot, "small": smallSlot, "of 266": 10} {
		list = append(list,
			explained{"slotrun/read " + name, w.fill("slotrun/read", "{filter}", ""),
				[]any{f.slots[s], first[:], last[:], 1000}, rows(bySlotAndKey)},
			explained{"slotrun/read one job_exec " + name, w.fill("slotrun/read", "{filter}", "AND job_exec = ?"),
				[]any{f.slots[s], first[:], last[:], "exec1", 1000}, rows(bySlotAndKey)},
			explained{"slotrun/read the other job_execs " + name, w.fill("slotrun/read", "{filter}", "AND job_exec NOT IN (?, ?)"),
				[]any{f.slots[s], first[:], last[:], "exec1", "exec2", 1000}, rows(bySlotAndKey)})
		for _, n := range []int{1, 3, 100, 999, 1000, 1001, 5000} {
			some := f.some(s, n)
			if len(some) < n {
				continue
			}
			keys := keyList(some, FutureJob.Key)
			list = append(list, f.rangeStatements(some, f.slots[s], name)...)
			for statement, table := range map[string]string{"slotrun/lock": "p_future_job", "slotrun/lock_free": "p_future_job",
				"slotrun/seen": "p_future_job", "slotrun/end": "job"} {
				list = append(list, explained{fmt.Sprintf("%s %d of %s", statement, n, name),
					w.fill(statement, "{keys}", keys), []any{f.slots[s]}, map[string]string{table: bySlotAndKey}})
			}
			list = append(list, explained{fmt.Sprintf("slotrun/lock_free_unique %d of %s", n, name),
				w.fill("slotrun/lock_free_unique", "{keys}", keys), []any{f.slots[s]}, map[string]string{"p_future_job": byKey}})
			moves := make([]*answered, len(some))
			for i, job := range some {
				moves[i] = &answered{row: row{FutureJob: job, key: job.Key()}, verdict: verdict{slot: f.slots[40], dueAt: job.DueAt}}
			}
			moved, _ := movesJSON(moves)
			for statement, ofRows := range map[string]string{"slotrun/reschedule": moved, "slotrun/end_each": keysJSON(moves)} {
				list = append(list, explained{fmt.Sprintf("%s %d of %s", statement, n, name), get(statement),
					[]any{ofRows, f.slots[s]}, map[string]string{"job": bySlotAndKey}})
			}
		}
	}
	return list
}

func (f *filled) sweepStatements() []explained {
	first, last := bucketRange(1, 4)
	rows := func(keys string) map[string]string { return map[string]string{"p_future_job": keys} }
	get := f.w.stmt.Get
	list := []explained{
		{"sweep/overdue", get("sweep/overdue"), []any{earliestDue, f.slots[20], sweepPage}, rows(bySlot)},
		{"sweep/overdue, a page on", get("sweep/overdue"), []any{f.slots[10].Add(time.Second), f.slots[20], sweepPage}, rows(bySlot)},
		{"sweep/overdue, everything", get("sweep/overdue"), []any{earliestDue, f.slots[49], sweepPage}, rows(bySlot)},
		{"sweep/batch_end", get("sweep/batch_end"), []any{f.slots[bigSlot], first[:], last[:], 999}, rows(bySlotAndKey)},
		{"sweep/keys", get("sweep/keys"), []any{f.slots[bigSlot], first[:], last[:], 1000}, rows(bySlotAndKey)},
	}
	for _, n := range []int{1, 3, 100, 999, 1000, 1001, 5000} {
		list = append(list, explained{fmt.Sprintf("sweep/roll_forward %d keys", n),
			f.w.fill("sweep/roll_forward", "{keys}", keyList(f.some(bigSlot, n), FutureJob.Key)), []any{f.slots[40], f.slots[bigSlot]}, rows(bySlotAndKey)})
	}
	return list
}

func (f *filled) listStatements() []explained {
	return []explained{
		{"list/config", f.w.stmt.Get("list/config"), nil, map[string]string{"p_slot_config": byConfig}},
		{"list/load", f.w.stmt.Get("list/load"), []any{f.slots[1], f.slots[9], 100}, map[string]string{"p_future_job": bySlot}},
	}
}
