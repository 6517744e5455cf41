package worker

import (
	"sync"

	"prescient/prescient/worker/internal/ledger"
)

// A slow job_exec makes its own rows late, and no others. Buckets that wait for nothing but its calls linger: they keep
// their leases, and others run in their places. What lingers is bounded here, by job_exec: its rows in memory, and the
// buckets that wait for it. Buckets beyond that run their other rows, leave those of this job_exec in the table, and are
// given back unfinished; the sweeper has them when there is room.

// maxLinger is how many buckets may wait for the calls of one job_exec: all of a slot.
const maxLinger = ledger.MaxBuckets

// crowd is what waits for one job_exec in a worker: rows that have a stream of their own.
type crowd struct {
	mu      sync.Mutex
	rows    int
	bytes   int // of their payloads and errors
	buckets int // that linger for them
}

// add counts rows in memory, or takes them off the count.
func (c *crowd) add(rows, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows += rows
	c.bytes += bytes
}

// linger counts buckets, or takes them off the count.
func (c *crowd) linger(buckets int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.buckets += buckets
}

// backedUp says whether more waits for the job_exec than is called at a time.
func (c *crowd) backedUp(atOnce int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rows > atOnce || c.buckets > atOnce
}

// room says whether more rows may be read for it.
func (c *crowd) room(rows, bytes int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rows < rows && c.bytes < bytes
}

// full says whether as many buckets linger for it as may; one that does itself asks about the others.
func (c *crowd) full(lingers bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buckets > maxLinger || c.buckets == maxLinger && !lingers
}
