package stats

import (
	"fmt"
	"testing"
	"time"

	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// BenchmarkAYear makes the sums of a year of days, and of some days of hours, of 20 job_execs with 60 buckets a measure, and tells what they take on disk
// and how long percentiles take of a week, of a year, and of a week that begins and ends within days.
//
//	go test -run '^$' -bench AYear -benchtime 20x -timeout 1h ./prescient/stats
func BenchmarkAYear(b *testing.B) {
	const execs, buckets, days, daysOfHours = 20, 60, 365, 30
	end := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for _, flavour := range servertest.Flavours(b) {
		b.Run(string(flavour), func(b *testing.B) {
			d := servertest.New(b, flavour)
			root := d.Open(b, "")
			_, err := migrate.Up(b.Context(), root, migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute})
			rig.Fatal(b, err)
			exec := func(query string, args ...any) {
				b.Helper()
				_, err := root.ExecContext(b.Context(), query, args...)
				rig.Fatal(b, err)
			}
			exec("CREATE TABLE n (n INT PRIMARY KEY)")
			exec("INSERT INTO n VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
			exec("INSERT INTO n SELECT 10 + a.n + 10 * b.n FROM n a, n b")
			fill := func(grain string, start time.Time, of int) {
				exec("INSERT INTO p_stats_bucket (grain, start, job_exec, entity_name, measure, bucket, n) SELECT ?, ?, CONCAT('order-unshipped-', e.n), 'order', m.n + 1, 100 + k.n, 1000 FROM n e, n m, n k "+
					"WHERE e.n < ? AND m.n < 3 AND k.n < ?", grain, start, execs, of)
				exec("INSERT INTO p_stats_bucket (grain, start, job_exec, entity_name, measure, bucket, n) SELECT ?, ?, CONCAT('order-unshipped-', e.n), 'order', 'checks', k.n, 1000 FROM n e, n k "+
					"WHERE e.n < ? AND k.n < 8", grain, start, execs)
				exec("INSERT INTO p_stats SELECT ?, ?, CONCAT('order-unshipped-', e.n), 'order', o.n + 1, 1000, 1000, 10, 100, 100, 1000, 100000, 100000, 100000, 100000 FROM n e, n o WHERE e.n < ? AND o.n < 4", grain, start, execs)
				exec("INSERT INTO p_stats_reason SELECT ?, ?, CONCAT('order-unshipped-', e.n), CONCAT('Get …: dial tcp …: connection refused ', CHAR(97 + o.n)), 10 FROM n e, n o WHERE e.n < ? AND o.n < 4", grain, start, execs)
			}
			for n := range days {
				fill("day", end.AddDate(0, 0, n-days), buckets)
			}
			sizes := func() (mb float64) {
				for _, table := range []string{"stats", "stats_bucket", "stats_reason"} {
					exec("ANALYZE TABLE p_" + table)
				}
				var bytes float64
				query := "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'p\\_stats%'"
				if string(flavour) == "mysql" {
					query = "SELECT /*+ SET_VAR(information_schema_stats_expiry = 0) */" + query[len("SELECT"):]
				}
				rig.Fatal(b, root.QueryRowContext(b.Context(), query).Scan(&bytes))
				return bytes / (1 << 20)
			}
			ofDays := sizes()
			for n := range daysOfHours * 24 {
				fill("hour", end.Add(time.Duration(n-daysOfHours*24)*time.Hour), buckets/2)
			}
			ofHours := (sizes() - ofDays) / daysOfHours
			db, err := connect.Open(d.DSN, 0)
			rig.Fatal(b, err)
			defer db.Close()
			for about, span := range map[string][2]time.Time{"week": {end.AddDate(0, 0, -7), end}, "year": {end.AddDate(0, 0, -days), end},
				"edges": {end.AddDate(0, 0, -8).Add(5 * time.Hour), end.Add(-3 * time.Hour)}} {
				b.Run(about, func(b *testing.B) {
					for b.Loop() {
						all, err := Percentiles(b.Context(), db, "p_", text.Auto, span[0], span[1])
						if rig.Fatal(b, err); len(all) != execs {
							b.Fatal(fmt.Sprint(all))
						}
					}
					b.ReportMetric(ofDays, "MB/year-of-days")
					b.ReportMetric(ofHours*90, "MB/90-days-of-hours")
				})
			}
		})
	}
}
