package longrun

// places are how many runs an agent may have. Each pool that it serves has its own, and the runs of no pool have others.
type places struct {
	capacity          int
	pools             map[string]int
	running, starting map[string]int // by pool: those whose functions are called, and those whose transactions are not committed yet
}

func newPlaces(capacity int, pools map[string]int) places {
	return places{capacity, pools, make(map[string]int), make(map[string]int)}
}

// of is how many there are for a pool, and left, how many of them are free.
func (p *places) of(pool string) int {
	if pool == "" {
		return p.capacity
	}
	return p.pools[pool]
}

func (p *places) left(pool string) int { return p.of(pool) - p.taken(pool) }

func (p *places) taken(pool string) int { return p.running[pool] + p.starting[pool] }

// beginning is how many runs are about to start.
func (p *places) beginning() (n int) {
	for _, some := range p.starting {
		n += some
	}
	return n
}

// take gives a run a place.
func (p *places) take(run *Run) {
	run.placed = true
	p.running[run.row.pool]++
}

// leave takes it back, and says whether the run had one.
func (p *places) leave(run *Run) (had bool) {
	if had = run.placed; had {
		run.placed = false
		p.running[run.row.pool]--
	}
	return had
}
