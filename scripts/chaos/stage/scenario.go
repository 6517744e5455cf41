package stage

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"prescient/prescient/localserver/wire"
	"prescient/scripts/chaos/checker"
)

// Scenario is one way to break things.
type Scenario struct {
	Name  string
	About string // one line, for people

	Own     bool           // it needs a server that may be killed and set up at will
	Cluster bool           // it needs a cluster whose nodes may be killed
	Workers int            // 3 by default
	Rate    int            // transactions of the app in a second, about; 100 by default
	Execs   map[string]int // shares of the job_execs; the usual ones by default
	Linger  int            // percent of the inserts that stay open for up to 3 s before they commit
	Params  string         // of the workers' DSN
	Env     []string       // of the workers
	Tables  []string       // statements to run after migrate

	Drain time.Duration // how long what is due may take once nothing breaks any more; a minute by default

	// Wire returns the rules of a worker's wire, by its place and how many were there before it.
	Wire func(s *stage, place, life int) []wire.Rule
	// Faults breaks things until ctx ends, and leaves everything whole.
	Faults func(ctx context.Context, s *stage)
	// Rules adapts what the checker asks for.
	Rules func(r *checker.Rules)

	clock bool // the workers are a program whose clock can be set

	// server starts a server of a flavour that is the scenario's alone, and is ended by done. An error says why there
	// cannot be one here: the scenario is left out.
	server func(ctx context.Context, c Campaign, name string) (engine Engine, done func() error, err error)
}

// usual are the job_execs that every scenario has: all ways to end, and to go on.
var usual = map[string]int{"done": 30, "again": 12, "tx": 14, "txagain": 10, "txbatch": 10, "flaky": 8, "slow": 8, "forever": 5, "failing": 5, "past": 4}

// pick chooses a job_exec by its share.
func (s Scenario) pick(dice *rand.Rand) string {
	execs := s.Execs
	if execs == nil {
		execs = usual
	}
	total := 0
	for _, share := range execs {
		total += share
	}
	n := dice.IntN(total)
	names := slices.Sorted(maps.Keys(execs))
	for _, name := range names {
		if n -= execs[name]; n < 0 {
			return name
		}
	}
	return names[0]
}

// Scenarios are all that there are, in the order in which they are run.
func Scenarios() []Scenario {
	return slices.Concat(deaths(), servers(), machines(), nodes(), manners())
}

// Named returns scenarios by name; ok is false where one is not known.
func Named(names ...string) (list []Scenario, unknown string) {
	for _, name := range names {
		at := slices.IndexFunc(Scenarios(), func(s Scenario) bool { return s.Name == name })
		if at < 0 {
			return nil, name
		}
		list = append(list, Scenarios()[at])
	}
	return list, ""
}
