package rig

import (
	"database/sql"
	"fmt"
	"testing"
)

// MakePending makes rows pending for benchmarks, in the tables with the prefix p_: due over 40,000 minutes from now on.
func MakePending(t testing.TB, db *sql.DB, rows int) {
	t.Helper()
	const chunk = 20_000
	for from := 0; from < rows; from += chunk {
		_, err := db.ExecContext(t.Context(), `INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, payload)
			SELECT 'order', n, 'unshipped', UTC_TIMESTAMP(6) + INTERVAL 10 + n MOD 40000 MINUTE, '{"total": 42.5}' FROM (
				SELECT ? + a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n AS n FROM `+digits("a")+`, `+digits("b")+`, `+
			digits("c")+`, `+digits("d")+`, (SELECT 0 AS n UNION ALL SELECT 1) e) numbers WHERE n < ?`, from, rows)
		Fatal(t, err)
	}
}

// digits is a table of 0 to 9.
func digits(alias string) string {
	table := "(SELECT 0 AS n"
	for n := 1; n < 10; n++ {
		table += fmt.Sprintf(" UNION ALL SELECT %d", n)
	}
	return table + ") " + alias
}
