package bucket

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker/internal/ledger"
	"prescient/sql/migrate"
)

// BenchmarkReadBatch reads the rows of a batch; the time is that of the server too.
func BenchmarkReadBatch(b *testing.B) {
	for _, flavour := range servertest.Flavours(b) {
		b.Run(string(flavour), func(b *testing.B) {
			const rows = 1000
			slot := time.Now().UTC().Truncate(15 * time.Minute)
			d := servertest.New(b, flavour)
			own := d.Open(b, "")
			_, err := migrate.Up(b.Context(), own, migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute})
			rig.Fatal(b, err)
			c, err := client.New(b.Context(), own, client.Options{Prefix: "p_"})
			rig.Fatal(b, err)
			jobs := make([]prescient.NewJob, rows)
			for i := range jobs {
				jobs[i] = prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "check", DueAt: slot, Payload: []byte(`{"total": 4200}`)}
			}
			_, err = c.InsertMany(b.Context(), d.Open(b, rig.FixedClock(slot.Add(-time.Second))), jobs)
			rig.Fatal(b, err)
			db, err := connect.Open(d.DSN, 0)
			rig.Fatal(b, err)
			b.Cleanup(func() { _ = db.Close() })
			tables, err := store.OpenTables(b.Context(), db, "p_", 0, "")
			rig.Fatal(b, err)
			_, last := store.BucketRange(0, 1)
			run := &Bucket{Shared: shared(db, &tables, prescient.NewRegistry()), Options: Options{Lease: &ledger.Lease{Slot: slot}, Hidden: new(atomic.Bool)},
				reads: reads{last: last, streams: []*stream{{}}}, sizes: sizes{batch: rows}}
			before := ownCPU()
			b.ReportAllocs()
			for b.Loop() {
				batch, err := run.readBatch(b.Context(), run.streams[0])
				if err != nil || len(batch) != rows {
					b.Fatal(len(batch), err)
				}
			}
			b.ReportMetric(float64((ownCPU()-before).Nanoseconds())/float64(b.N*rows), "client-ns/row")
		})
	}
}

// ownCPU is what this process has used of the processors.
func ownCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
