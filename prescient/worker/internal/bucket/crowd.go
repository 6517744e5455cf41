package bucket

import (
	"slices"
	"sync"

	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/ledger"
)

// A slow job_exec makes its own rows late, and no others. Buckets that wait for nothing but its calls linger: they keep
// their leases, and others run in their places. What lingers is bounded here, by job_exec: its rows in memory, and the
// buckets that wait for it. Buckets beyond that run their other rows, leave those of this job_exec in the table, and are
// given back unfinished; the sweeper has them when there is room.

// MaxLinger is how many buckets may wait for the calls of one job_exec: all of a slot.
const MaxLinger = ledger.MaxBuckets

// Crowd is what waits for one job_exec in a worker: rows that have a stream of their own.
type Crowd struct {
	Mu      sync.Mutex
	Rows    int
	Bytes   int // of their payloads and errors
	Buckets int // that linger for them
}

// CrowdedOut names the job_execs for which as many buckets wait as may: a bucket that comes now leaves their rows in the
// table. Paused ones are not among them, since their rows are put off, whatever waits.
func (s *Shared) CrowdedOut(paused store.Pauses) (names []string) {
	for name, crowd := range s.Crowds {
		if crowd.full(false) && !paused[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// add counts rows in memory, or takes them off the count.
func (c *Crowd) add(rows, bytes int) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.Rows += rows
	c.Bytes += bytes
}

// linger counts a bucket.
func (c *Crowd) linger() {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.Buckets++
}

// leave takes a bucket off the count, and says whether that makes room for another.
func (c *Crowd) leave() (room bool) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.Buckets--
	return c.Buckets == MaxLinger-1
}

// backedUp says whether more waits for the job_exec than is called at a time.
func (c *Crowd) backedUp(atOnce int) bool {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.Rows > atOnce || c.Buckets > atOnce
}

// room says whether more rows may be read for it.
func (c *Crowd) room(rows, bytes int) bool {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.Rows < rows && c.Bytes < bytes
}

// full says whether as many buckets linger for it as may; one that does itself asks about the others.
func (c *Crowd) full(lingers bool) bool {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.Buckets > MaxLinger || c.Buckets == MaxLinger && !lingers
}
