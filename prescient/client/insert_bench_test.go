package client

import (
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// What InsertMany does before it sends anything: the rows of a statement, as text.
func BenchmarkInsertText(b *testing.B) {
	grid, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	c := &Client{tables: store.Tables{Grid: grid}, guards: prescient.DefaultGuards()}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	jobs := make([]prescient.NewJob, 1000)
	for i := range jobs {
		jobs[i] = prescient.NewJob{Entity: prescient.Entity{Name: "parcel", Key: fmt.Sprint(i)}, JobExec: "unshipped", DueAt: now.Add(3 * time.Hour)}
	}
	b.ReportAllocs()
	for b.Loop() {
		for i := range jobs {
			if err := jobs[i].Validate(); err != nil {
				b.Fatal(err)
			}
		}
		list := inPlace(jobs)
		bulk := newBulk(c, list)
		if _, _, err := bulk.text(0, len(list), nil, now); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(jobs)), "ns/job")
}
