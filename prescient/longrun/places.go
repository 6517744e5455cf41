package longrun

// Each pool that an agent serves has places of its own, and the runs of no pool have those of Capacity.

// placesOf is how many places there are for runs of a pool.
func (r *Runner) placesOf(pool string) int {
	if pool == "" {
		return r.options.Capacity
	}
	return r.options.Pools[pool]
}

// placesLeft is how many runs of a pool may start. The lock is held.
func (r *Runner) placesLeft(pool string) int {
	if r.draining {
		return 0
	}
	return r.placesOf(pool) - r.running[pool] - r.starting[pool]
}

// reserve takes places for up to n runs of a pool that are about to start, and says how many.
func (r *Runner) reserve(pool string, n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n = max(min(n, r.placesLeft(pool)), 0)
	r.starting[pool] += n
	return n
}

// unreserve gives places back.
func (r *Runner) unreserve(pool string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starting[pool] -= n
	r.still()
}

func sum(of map[string]int) (n int) {
	for _, some := range of {
		n += some
	}
	return n
}
