package prescient

import (
	"context"
	"database/sql"
	"maps"
	"testing"
)

// The handler counters say what EXPLAIN only plans: however much is pending, a look at the overdue slots reads a few
// entries for each of them.
func (f *filled) overdueReadsLittle(t *testing.T, conn *sql.Conn) {
	for _, slots := range []int{2, 10, 49} {
		read := reads(t, conn, f.w.stmt.Get("sweep/overdue"), earliestDue, f.slots[slots], sweepPage)
		if limit := 3*slots + 10; read > limit {
			t.Errorf("%d overdue slots: %d entries were read; want %d at most", slots, read, limit)
		}
	}
}

// reads returns how many entries of tables and indexes a query read.
func reads(t *testing.T, conn *sql.Conn, query string, args ...any) int {
	t.Helper()
	status := func() map[string]int {
		rows, err := conn.QueryContext(context.WithoutCancel(t.Context()), "SHOW SESSION STATUS LIKE 'Handler_read%'")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		all := make(map[string]int)
		for rows.Next() {
			var name string
			var n int
			if err := rows.Scan(&name, &n); err != nil {
				t.Fatal(err)
			}
			all[name] = n
		}
		return all
	}
	sum := func(m map[string]int) (n int) {
		for v := range maps.Values(m) {
			n += v
		}
		return n
	}
	status()
	before := sum(status())
	idle := sum(status()) - before // what SHOW STATUS itself reads
	rows, err := conn.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	return sum(status()) - before - 2*idle
}
