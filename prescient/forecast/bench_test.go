package forecast

import (
	"context"
	"flag"
	"testing"
	"time"

	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/sql/migrate"
)

var benchRows = flag.Int("rows", 20_000, "pending rows of BenchmarkForecast")

// BenchmarkForecast makes the forecast of rows that come due over four weeks, and of as many in one slot that comes soon. It tells how long it took
// from here, and how many rows the server read for it.
//
//	go test -run '^$' -bench Forecast -benchtime 5x -timeout 1h ./prescient/forecast -rows 1500000
func BenchmarkForecast(b *testing.B) {
	for _, flavour := range servertest.Flavours(b) {
		b.Run(string(flavour), func(b *testing.B) {
			d := servertest.New(b, flavour)
			app := d.Open(b, "")
			_, err := migrate.Up(b.Context(), app, migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute})
			rig.Fatal(b, err)
			rig.MakePending(b, app, *benchRows)
			const chunk = 100_000
			for from := 0; from < *benchRows; from += chunk {
				_, err = app.Exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, payload)
					SELECT 'herd', entity_key, IF(entity_key MOD 3, 'many', 'few'), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, payload FROM p_future_job WHERE entity_name = 'order' AND entity_key >= ? AND entity_key < ?`, from, min(from+chunk, *benchRows))
				rig.Fatal(b, err)
			}
			rows, err := app.Query("ANALYZE TABLE p_future_job")
			rig.Fatal(b, err)
			rig.Fatal(b, rows.Close())
			db, err := connect.Open(d.DSN, time.Hour)
			rig.Fatal(b, err)
			m, err := New(b.Context(), db, Options{Prefix: "p_", Name: "bench"})
			rig.Fatal(b, err)
			var report Report
			var took time.Duration
			n := 0
			for b.Loop() {
				began := time.Now()
				report, err = m.look(b.Context())
				rig.Fatal(b, err)
				took += time.Since(began)
				n++
				_, err = app.ExecContext(context.WithoutCancel(b.Context()), "DELETE FROM p_forecast_made")
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
			b.ReportMetric(float64(took.Milliseconds())/float64(n), "ms/look")
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
