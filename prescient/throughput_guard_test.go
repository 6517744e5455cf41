//go:build !race

package prescient

import (
	"context"
	"slices"
	"testing"
	"time"

	"prescient/prescient/internal/servertest"
)

// Slot runs and bulk inserts keep up with what the server itself needs for the same work. The bounds are half of what
// was measured when this was written, and less: it guards against a fall by half, on a machine that does other things too.
func TestThroughputHasNotFallenByHalf(t *testing.T) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		needs(t, d.Open(t, ""), columnDefaults)
		y := newYard(t, d, 8_000)
		next := y.slot.Add(24 * time.Hour)
		var floors, ends, moves, byHand, inserts []time.Duration
		end := y.worker(registry("check", nothingToDo, Guards{}), WorkerOptions{})
		move := y.worker(registry("check", func(context.Context, FutureJob) (*time.Time, error) { return &next, nil }, Guards{}), WorkerOptions{})
		client, err := NewClient(t.Context(), y.app, ClientOptions{Prefix: "p_"})
		y.must(err)
		jobs := y.jobs(y.rows)
		for range 3 {
			y.fill()
			floors = append(floors, y.measure(y.floor).elapsed)
			y.fill()
			ends = append(ends, y.measure(func() { y.run(end, manner{parallel: 2}) }).elapsed)
			y.fill()
			moves = append(moves, y.measure(func() { y.run(move, manner{parallel: 2}) }).elapsed)
			y.exec("TRUNCATE TABLE p_future_job")
			byHand = append(byHand, y.measure(func() { y.insertByHand(jobs) }).elapsed)
			y.exec("TRUNCATE TABLE p_future_job")
			inserts = append(inserts, y.measure(func() {
				_, err := client.InsertMany(t.Context(), y.app, jobs)
				y.must(err)
			}).elapsed)
		}
		for _, ratio := range []struct {
			what        string
			of, against []time.Duration
			least       float64
		}{
			{"ends against the floor", ends, floors, 0.2},
			{"reschedules against ends", moves, ends, 0.15},
			{"bulk insert against a multi-row INSERT", inserts, byHand, 0.4},
		} {
			got := float64(median(ratio.against)) / float64(median(ratio.of))
			t.Logf("%s: %.2f", ratio.what, got)
			if got < ratio.least {
				t.Errorf("%s: %.2f; want %.2f at least", ratio.what, got, ratio.least)
			}
		}
	})
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
