package prescient

import "time"

// What workers, connections and operators have to agree on.
const (
	// DefaultLease is for how long a worker claims a bucket.
	DefaultLease = time.Minute
	// MaxLease is the longest lease there is. One that ends further ahead was left behind by a worker before the clock of the
	// database was set back, and is not honoured: the statements that ask whether a lease lives have the same number.
	MaxLease = time.Hour
	// DefaultSweepEvery is the time from one sweep to the next.
	DefaultSweepEvery = time.Minute
	// DefaultSweepGrace is how old a slot has to be for the sweeper.
	DefaultSweepGrace = 10 * time.Second
)
