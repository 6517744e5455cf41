package rig

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	text "prescient/sql"
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
// rows along the index that it reads them by collects them first. MariaDB does so with the groups of a list of streams, too.
func (e Explained) copies(line plan) bool {
	return line["table"] == "moved" || line["table"] == "ended" || e.sorts(line) || line["select_type"] == "UPDATE" &&
		(strings.HasPrefix(e.Statement, "sweep/roll_forward") || strings.HasPrefix(e.Statement, "client/reschedule_many") || e.Statement == "rule/move")
}

// sorts says whether it sorts no more than a list that is part of the statement, what a limit has left, or the entries of an object or a page
// of them.
func (e Explained) sorts(line plan) bool {
	return strings.HasPrefix(line["table"], "<derived") && (strings.HasPrefix(e.Statement, "schedule/event_copied") || e.Statement == "agent/pools") ||
		e.Statement == "audit/list object" || strings.HasPrefix(e.Statement, "list/last_end")
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
	Fatal(t, err)
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		Fatal(t, rows.Scan(into...))
		line := make(plan)
		for i, column := range columns {
			line[strings.ToLower(column)] = values[i].String
		}
		lines = append(lines, line)
	}
	Fatal(t, rows.Err())
	return lines
}

// CheckPlans explains statements, and compares. It fails for each of all that is in one of the folders, such as client, and not in the list,
// but for those that are left out, since they have no plan, or one that is bounded by itself.
func CheckPlans(t *testing.T, conn *sql.Conn, list []Explained, all text.Statements, folders []string, leftOut ...string) {
	t.Helper()
	covered := make(map[string]bool)
	for _, e := range list {
		name, _, _ := strings.Cut(e.Statement, " ")
		covered[name] = true
		t.Run(strings.ReplaceAll(e.Statement, " ", "_"), func(t *testing.T) { e.Check(t, conn) })
	}
	for name := range all {
		folder, _, _ := strings.Cut(name, "/")
		if slices.Contains(folders, folder) && !covered[name] && !slices.Contains(leftOut, name) {
			t.Errorf("%s is not explained here", name)
		}
	}
}

// Tallied is a line of exec_run from job_exec on, as statements take it.
const Tallied = "'check','order',1,0,0,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,5,5,0,0,'{\"34\":1}','{\"0\":1}',NULL,0,NULL"
