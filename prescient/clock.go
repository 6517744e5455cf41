package prescient

import "time"

// clock tells the database's time between two looks at it: the time it said last plus what has elapsed since, by the
// monotonic clock. The machine's own wall clock plays no part. It is at most a round trip behind, never ahead.
type clock struct {
	said time.Time // by the database
	at   time.Time // here, with a monotonic reading, when its answer had arrived
}

func clockAt(said time.Time) clock { return clock{said: said.UTC(), at: time.Now()} }

func (c clock) now() time.Time { return c.said.Add(time.Since(c.at)) }

// when returns the database's time of a moment here.
func (c clock) when(here time.Time) time.Time { return c.said.Add(here.Sub(c.at)) }
