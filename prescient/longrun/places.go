package longrun

// places are how many runs an agent may have. Each pool that it serves has its own, and the runs of no pool have others.
type places struct {
	capacity int
	pools    map[string]int
	// By pool: runs that are called, those whose starts are not committed yet, and those whose functions have returned and whose ends
	// are not committed yet, as far as their places were given back before that.
	running, starting, ending map[string]int
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

// take gives a run a place, and free takes it back.
func (p *places) take(run *Run) {
	run.placed = true
	p.running[run.row.pool]++
}

func (p *places) free(run *Run) {
	if run.placed {
		run.placed = false
		p.running[run.row.pool]--
	}
}

// vacate takes back the place of a run whose end is not committed yet, and says whether it did: as many as a pool has places may be on
// their way to the database beside those that are called, so that a slow database slows the claims down.
func (p *places) vacate(run *Run) bool {
	if !run.placed || p.ending[run.row.pool] >= p.of(run.row.pool) {
		return false
	}
	p.free(run)
	run.vacated = true
	p.ending[run.row.pool]++
	return true
}

// end takes back whatever a run has.
func (p *places) end(run *Run) {
	p.free(run)
	if run.vacated {
		run.vacated = false
		p.ending[run.row.pool]--
	}
}

// beginning is how many runs are about to start.
func (p *places) beginning() (n int) {
	for _, some := range p.starting {
		n += some
	}
	return n
}
