package longrun

// places are how many runs an agent may have. Each pool that it serves has its own, and the runs of no pool have others.
type places struct {
	capacity          int
	pools             map[string]int
	running, starting map[string]int // by pool: those that have a place, and those whose starts are not committed yet
	ending            map[string]int // those that have none any more, and whose ends are not committed yet
}

func newPlaces(capacity int, pools map[string]int) places {
	return places{capacity, pools, make(map[string]int), make(map[string]int), make(map[string]int)}
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

// end says that the function of a run has returned, whose end is to be committed: it gives its place back before that, unless as many ends as there
// are places wait for it already. A run that keeps apart from the others of its schedule stays in its place: else the next of them, which waits
// for that, would find it under way.
func (p *places) end(run *Run) (had bool) {
	pool := run.row.pool
	if !run.placed || run.terms.apart() || p.ending[pool] >= p.of(pool) {
		return false
	}
	run.ending = true
	p.ending[pool]++
	return p.leave(run)
}

// over forgets a run.
func (p *places) over(run *Run) (had bool) {
	if run.ending {
		run.ending = false
		p.ending[run.row.pool]--
	}
	return p.leave(run)
}

// leave takes its place back, and says whether it had one.
func (p *places) leave(run *Run) (had bool) {
	if had = run.placed; had {
		run.placed = false
		p.running[run.row.pool]--
	}
	return had
}
