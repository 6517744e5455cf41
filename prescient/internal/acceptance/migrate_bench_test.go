package acceptance

import (
	"context"
	"flag"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver/servertest"
	"prescient/sql/migrate"
)

var migratedRows = flag.Int("rows", 20_000, "pending rows of BenchmarkMigrations")

// BenchmarkMigrations applies a migration that alters future_job, and what apps read beside it, to tables that are full, and tells how long
// it took, and how long a plain INSERT that is tried all the while waits at most.
//
//	go test -run '^$' -bench Migrations -benchtime 1x -timeout 2h ./prescient/internal/acceptance -rows 10000000
func BenchmarkMigrations(b *testing.B) {
	for _, flavour := range servertest.Flavours(b) {
		b.Run(string(flavour), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				d := servertest.New(b, flavour)
				app := d.Open(b, "")
				schema := migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute}
				_, err := migrate.Up(b.Context(), app, schema)
				rig.Fatal(b, err)
				rig.MakePending(b, app, *migratedRows)
				ctx, stop := context.WithCancel(b.Context())
				waits := make(chan time.Duration, 1)
				go func() {
					var most time.Duration
					for i := 0; ctx.Err() == nil; i++ {
						began := time.Now()
						if _, err := app.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('plain', ?, 'x', UTC_TIMESTAMP(6) + INTERVAL 1 DAY)", i); err != nil {
							b.Error(err)
						}
						most = max(most, time.Since(began))
						_ = store.Sleep(ctx, 10*time.Millisecond)
					}
					waits <- most
				}()
				schema.Set = laterSet(b, further)
				b.StartTimer()
				applied, err := migrate.Up(b.Context(), d.Open(b, ""), schema)
				b.StopTimer()
				rig.Fatal(b, err)
				stop()
				for _, m := range applied {
					b.ReportMetric(m.Took.Seconds(), m.Name[:5]+"-s")
				}
				b.ReportMetric((<-waits).Seconds(), "insert-waits-s")
				b.StartTimer()
			}
		})
	}
}
