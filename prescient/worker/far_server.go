package worker

import (
	"cmp"
	"context"
	"time"
)

// A bucket sends one statement after the other, seven for a commit; while it waits for the answers of a server that is far
// away, other buckets use the time. So more are worked on at a time, the further away it is.

const (
	// oneMoreFor is how long a round trip is for each bucket more. Of what ends a second with the server beside the worker,
	// 0.7 were left 5 ms away with 4 buckets at a time, 0.9 with 6 to 8, and no more with 12 (scripts/bench: remote).
	oneMoreFor = time.Millisecond
	// pings is how often the round trip is measured: the shortest counts, since the others also wait for processors.
	pings = 3
)

// buckets is how many buckets to work on at a time where the server is not far away.
func (w *Worker) buckets() int { return cmp.Or(w.options.Buckets, DefaultBuckets) }

// bucketsAt is how many buckets to work on at a time where a round trip to the server takes so long. Memory and connections
// go with them, so that they are bounded.
func bucketsAt(trip time.Duration) int {
	return min(DefaultBuckets+int(trip/oneMoreFor), DefaultFarBuckets)
}

// roundTrip measures how long the server takes to answer what is no work; 0 where it does not.
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
