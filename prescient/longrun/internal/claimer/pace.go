package claimer

import (
	"cmp"
	"hash/fnv"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

const (
	busyPace    = 500 * time.Millisecond // between looks while something waits or runs
	freePace    = 100 * time.Millisecond // between looks while runs wait that had no place here, and places come free
	idlePace    = time.Second            // of the first looks after a slot began, while nothing does
	longestPace = time.Minute            // of the last
	window      = 8 * time.Millisecond
	againPace   = time.Second            // that an agent has which goes first
	longestLoad = 500 * time.Millisecond // by which load delays a claim: as long as others need to see the run
)

// nextLook is when to look again after a look: in half a second while something waits or runs, else once as much time has passed since the
// slot began as had passed before, up to a minute; and a second after the next slot begins.
func nextLook(grid slots.Grid, now time.Time, busy bool) time.Time {
	if busy {
		return now.Add(busyPace)
	}
	begun := grid.Floor(now)
	passed := max(now.Sub(begun), idlePace/2)
	again := now.Add(max(min(passed, longestPace), idlePace))
	if next := begun.Add(grid.Resolution() + idlePace); next.Before(again) && next.After(now) {
		return slots.Later(next, now.Add(idlePace))
	}
	return again
}

// delay is how long a claim waits, by a load from 0 to 1: at most half a second, and a twentieth of a slot.
func delay(resolution time.Duration, load float64) time.Duration {
	return time.Duration(min(max(load, 0), 1) * float64(min(longestLoad, resolution/20)))
}

// first compares which of two runs is claimed first: the one that was due earlier, or by their places.
func first(aDue, bDue time.Time, a, b uint64) int {
	return cmp.Or(aDue.Compare(bDue), cmp.Compare(a, b))
}

// place says where in the order of its claims an agent has a run: agents that see the same runs begin with others of those that were due together.
func place(agent string, key prescient.Key) uint64 {
	h := fnv.New64a()
	h.Write([]byte(agent))
	h.Write(key[:])
	return h.Sum64()
}
