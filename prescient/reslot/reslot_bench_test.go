package reslot

import (
	"context"
	"flag"
	"sync/atomic"
	"testing"
	"time"

	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver/servertest"
	"prescient/sql/migrate"
)

var benchRows = flag.Int("rows", 20_000, "pending rows of BenchmarkReslot")

// BenchmarkReslot goes from 15-minute slots to those of an hour, which moves three rows of four, and tells how long each
// step takes, and how long a plain INSERT that is tried all the while waits at most.
//
//	go test -run '^$' -bench Reslot -benchtime 1x -timeout 1h ./prescient/reslot -rows 2000000
func BenchmarkReslot(b *testing.B) {
	for _, flavour := range servertest.Flavours(b) {
		b.Run(string(flavour), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				d := servertest.New(b, flavour)
				app := d.Open(b, "")
				_, err := migrate.Up(b.Context(), app, migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute})
				rig.Fatal(b, err)
				rig.MakePending(b, app, *benchRows)
				db, err := connect.Open(d.DSN, time.Hour)
				rig.Fatal(b, err)
				var step atomic.Value
				step.Store(Step("before"))
				took := make(map[Step]time.Duration)
				var waited time.Duration
				ctx, stop := context.WithCancel(b.Context())
				inserting := make(chan error, 1)
				go func() {
					var err error
					for i := 0; ctx.Err() == nil && err == nil; i++ {
						began := time.Now()
						_, err = app.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('plain', ?, 'x', UTC_TIMESTAMP(6) + INTERVAL 1 DAY)", i)
						waited = max(waited, time.Since(began))
						_ = store.Sleep(ctx, 10*time.Millisecond)
					}
					inserting <- err
				}()
				last := time.Now()
				b.StartTimer()
				did, err := Run(b.Context(), db, Options{Prefix: "p_", Resolution: time.Hour, Progress: func(p Progress) {
					was := step.Swap(p.Step).(Step)
					took[was] += time.Since(last)
					last = time.Now()
				}})
				b.StopTimer()
				took[StepFinish] = time.Since(last)
				rig.Fatal(b, err)
				stop()
				rig.Fatal(b, <-inserting)
				rig.Fatal(b, db.Close())
				for _, s := range []Step{StepWait, StepAlter, StepMove, StepCheck} {
					b.ReportMetric(took[s].Seconds(), string(s)+"-s")
				}
				b.ReportMetric(waited.Seconds(), "insert-waits-s")
				b.ReportMetric(float64(did.Rows), "moved")
				b.StartTimer()
			}
		})
	}
}
