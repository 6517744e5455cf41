package stage

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/wire"
)

// Scenario is one way to break things.
type Scenario struct {
	Name  string
	About string // one line, for people

	Own     bool     // it needs a server that may be killed and set up at will
	Cluster bool     // it needs a cluster whose nodes may be killed
	Sharded bool     // it needs a Vitess
	Tables  []string // statements to run after migrate
	Load    Load
	Workers Workers

	Hours bool // history has an hour for each second, so that hours are summed up while ends of them are committed yet

	// Beside, where it is given, is how late a first call may come on the shards of a Vitess of which nothing is broken: all but the first.
	Beside time.Duration
	// Prepare, where it is given, makes ready what is to be broken before apps and workers begin.
	Prepare func(ctx context.Context, s *Stage) error
	// AppWire is what happens to the statements of the apps of a Vitess.
	AppWire []wire.Rule

	Drain time.Duration // how long what is due may take once nothing breaks any more; a minute by default

	// Faults breaks things until ctx ends, and leaves everything whole.
	Faults func(ctx context.Context, s *Stage)
	// Rules adapts what the checker asks for.
	Rules func(r *checker.Rules)

	// Server starts a server of a flavour that is the scenario's alone, and is ended by done. An error says why there
	// cannot be one here: the scenario is left out.
	Server func(ctx context.Context, faketime, name string) (engine Engine, done func() error, err error)
}

// Load is what the app asks for.
type Load struct {
	Rate  int            // transactions in a second, about; 100 by default
	Execs map[string]int // shares of the job_execs; the usual ones by default
	// Schedules is how many schedules there are at a time, about; 20 by default, none below 0.
	Schedules int
	Linger    int // percent of the inserts that stay open for up to 3 s before they commit
}

// Workers are how the workers are run.
type Workers struct {
	Number int    // 3 by default
	Params string // of their DSN
	Env    []string
	// EnvOf is what a worker's environment has besides, by its place.
	EnvOf func(s *Stage, place int) ([]string, error)
	Clock bool // they are a program whose clock can be set
	// Command is what a worker is told to do, by its place: work by default. One that ends is started again.
	Command func(place int) []string

	// Wire returns the rules of a worker's wire, by its place and how many were there before it.
	Wire func(place, life int) []wire.Rule
}

// Usual are the job_execs that every scenario has: all ways to end, and to go on.
var Usual = map[string]int{"done": 30, "again": 12, "tx": 14, "txagain": 10, "txbatch": 10, "flaky": 8, "slow": 8, "forever": 5, "failing": 5, "past": 4, "long": 5, "pooled": 5}

// pick chooses a job_exec by its share.
func (l Load) pick(dice *rand.Rand) string {
	execs := l.Execs
	if execs == nil {
		execs = Usual
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

// env is the environment of the worker in a place.
func (s *Stage) env(place int) ([]string, error) {
	w := s.Scenario.Workers
	if w.EnvOf == nil {
		return w.Env, nil
	}
	more, err := w.EnvOf(s, place)
	return slices.Concat(w.Env, more), err
}
