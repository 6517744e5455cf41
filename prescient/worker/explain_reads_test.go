package worker

import (
	"database/sql"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/internal/look"
)

// The handler counters say what EXPLAIN only plans: however much is pending, a look at the overdue slots reads a few
// entries for each of them.
func overdueReadsLittle(t *testing.T, conn *sql.Conn, f *rig.Filled) {
	for _, slots := range []int{2, 10, 49} {
		read := rig.Reads(t, conn, f.Tables.Stmt.Get("sweep/overdue"), prescient.EarliestDue, f.Slots[slots], look.Page)
		if limit := 3*slots + 10; read > limit {
			t.Errorf("%d overdue slots: %d entries were read; want %d at most", slots, read, limit)
		}
	}
}
