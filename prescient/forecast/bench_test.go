package forecast

import (
	"context"
	"flag"
	"slices"
	"testing"
	"time"

	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/sql/migrate"
)

var (
	benchRows = flag.Int("rows", 20_000, "pending rows of BenchmarkForecast, and of its herd")
	benchPool = flag.Int("pool", 0, "GB of buffer pool for BenchmarkForecast, on a server for this alone")
)

// BenchmarkForecast makes the forecast of rows that come due over four weeks, and of as many in one slot that comes soon. It tells how long it takes
// from here, the median, and how many entries the server reads for it.
//
//	go test -run '^$' -bench Forecast -benchtime 15x -timeout 1h ./prescient/forecast -rows 1500000
func BenchmarkForecast(b *testing.B) {
	for _, flavour := range servertest.Flavours(b) {
		b.Run(string(flavour), func(b *testing.B) {
			d := servertest.New(b, flavour)
			app := d.Open(b, "")
			if *benchPool > 0 {
				_, err := app.Exec("SET GLOBAL innodb_buffer_pool_size = ?", *benchPool<<30)
				rig.Fatal(b, err)
			}
			_, err := migrate.Up(b.Context(), app, migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute})
			rig.Fatal(b, err)
			rig.MakePending(b, app, *benchRows)
			for from := 0; from < *benchRows; from += 10_000 {
				_, err = app.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) SELECT 'herd', n + ?, IF(n MOD 3, 'many', 'few'), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR FROM "+tenThousand+" WHERE n + ? < ?", from, from, *benchRows)
				rig.Fatal(b, err)
			}
			rows, err := app.Query("ANALYZE TABLE p_future_job")
			rig.Fatal(b, err)
			rig.Fatal(b, rows.Close())
			db, err := connect.Open(d.DSN, time.Hour)
			rig.Fatal(b, err)
			defer db.Close()
			m, err := New(b.Context(), db, Options{Prefix: "p_", Name: "bench"})
			rig.Fatal(b, err)
			var report Report
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				report, err = m.look(b.Context())
				rig.Fatal(b, err)
				took = append(took, time.Since(began))
				_, err = app.ExecContext(context.WithoutCancel(b.Context()), "DELETE FROM p_forecast_fit")
				rig.Fatal(b, err)
				if made, err := m.Make(b.Context()); !made || err != nil {
					b.Fatal(made, err)
				}
			}
			worst := Part{}
			for _, p := range report.Slots {
				if p.Due > worst.Due {
					worst = p
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "ms/look")
			b.ReportMetric(float64(report.Read), "rows")
			b.Logf("the herd of %d was told as %d (%d to %d, %s)", *benchRows, worst.Due, worst.Low, worst.High, worst.How)
			for _, day := range report.Days[1:4] {
				var is int
				rig.Fatal(b, app.QueryRow("SELECT COUNT(*) FROM p_future_job WHERE next_check_at >= ? AND next_check_at < ?", day.Start, day.Start.Add(24*time.Hour)).Scan(&is))
				b.Logf("%s has %d, and was told as %d (%s)", day.Start.Format(time.DateOnly), is, day.Due, day.How)
			}
		})
	}
}
