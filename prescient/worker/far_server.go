package worker

import (
	"cmp"
	"context"
	"time"
)

// A bucket sends one statement after the other, seven for a commit; while it waits for the answers of a server that is far
// away, other buckets use the time. So more are worked on at a time, the further away it is.

const (
	// oneMoreFor is the length of round trip for which one more bucket is worked on. With the server 5 ms away, 4 buckets at a
	// time left 0.7 of the ends a second that it had beside the worker, 6 to 8 left 0.9, and 12 no more (scripts/bench: remote).
	oneMoreFor = time.Millisecond
	// pings is how often the round trip is measured: the shortest counts, since the others also wait for processors.
	pings = 3
)

// buckets is how many buckets to work on at a time where the server is not far away.
func (w *Worker) buckets() int { return cmp.Or(w.options.Buckets, DefaultBuckets) }

// bucketsAt is how many buckets to work on at a time where a round trip to the server takes so long. It is bounded, since memory
// and connections grow with it.
func bucketsAt(trip time.Duration) int {
	return min(DefaultBuckets+int(trip/oneMoreFor), DefaultFarBuckets)
}

// roundTrip measures how long the server takes to answer a ping; 0 where it does not answer.
func (w *Worker) roundTrip(ctx context.Context) (shortest time.Duration) {
	for range pings {
		began := time.Now()
		if w.send.DB.PingContext(ctx) != nil {
			return 0 // which the next statement will tell
		}
		if took := time.Since(began); shortest == 0 || took < shortest {
			shortest = took
		}
	}
	return shortest
}
