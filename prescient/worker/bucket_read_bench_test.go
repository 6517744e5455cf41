package worker

import (
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker/internal/bucket"
	"prescient/prescient/worker/internal/ledger"
)

// BenchmarkReadBatch reads 4000 rows of a bucket; the time is that of the server too.
func BenchmarkReadBatch(b *testing.B) {
	for _, flavour := range servertest.Flavours(b) {
		b.Run(string(flavour), func(b *testing.B) {
			const rows = DefaultBatch / 2
			_, last := store.BucketRange(0, 1)
			y := newYard(b, servertest.New(b, flavour), rows)
			run := &bucket.Bucket{Shared: y.worker(prescient.NewRegistry(), Options{}).shared, Options: bucket.Options{Lease: &ledger.Lease{Slot: y.slot}},
				Reads: bucket.Reads{Last: last, Streams: []*bucket.Stream{{}}}, Batch: rows}
			before := ownCPU()
			b.ReportAllocs()
			for b.Loop() {
				batch, err := run.ReadBatch(b.Context(), run.Streams[0])
				if err != nil || len(batch) != rows {
					b.Fatal(len(batch), err)
				}
			}
			b.ReportMetric(float64((ownCPU()-before).Nanoseconds())/float64(b.N*rows), "client-ns/row")
		})
	}
}
