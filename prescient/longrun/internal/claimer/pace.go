package claimer

import (
	"hash/fnv"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

const (
	busyPace    = time.Second            // between looks while something waits or runs
	freePace    = 100 * time.Millisecond // between looks while runs wait that had no place here, and places come free
	longestPace = time.Minute            // between looks while nothing does
	window      = 8 * time.Millisecond
	longestLoad = time.Second // by which load delays a claim
)

// nextLook is when to look again after a look: in a second while something waits or runs, else once as much time has passed since the
// slot began as had passed before, up to a minute; and a second after the next slot begins.
func nextLook(grid slots.Grid, now time.Time, busy bool) time.Time {
	if busy {
		return now.Add(busyPace)
	}
	begun := grid.Floor(now)
	passed := max(now.Sub(begun), busyPace/2)
	again := now.Add(max(min(passed, longestPace), busyPace))
	if next := begun.Add(grid.Resolution() + busyPace); next.Before(again) && next.After(now) {
		return slots.Later(next, now.Add(busyPace))
	}
	return again
}

// delay is how long a claim waits, by a load from 0 to 1: at most a second, and a twentieth of a slot.
func delay(resolution time.Duration, load float64) time.Duration {
	return time.Duration(min(max(load, 0), 1) * float64(min(longestLoad, resolution/20)))
}

// place says where in the order of its claims an agent has a run: agents that see the same runs begin with others.
func place(agent string, key prescient.Key) uint64 {
	h := fnv.New64a()
	h.Write([]byte(agent))
	h.Write(key[:])
	return h.Sum64()
}
