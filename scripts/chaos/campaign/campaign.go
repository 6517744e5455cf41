package campaign

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/scripts/chaos/checker"

	"prescient/scripts/chaos/stage"
)

// Campaign is scenarios on engines.
type Campaign struct {
	Seed      uint64
	Duration  time.Duration // of the faults, in each scenario
	Rows      int           // that each scenario has at least: on a slow machine its faults last longer
	Engines   []stage.Engine
	Scenarios []stage.Scenario
	Beside    int    // how many scenarios an engine plays at the same time; one after the other by default
	Dir       string // for journals and logs; what belongs to a finding stays there
	Clock     string // a worker program whose clock can be set, for the scenarios that do
	Faketime  string // libfaketime.so.1, for the scenario that sets a server's clock; empty where there is none
	Log       func(format string, args ...any)
	// Done is called after each run, one at a time.
	Done func(Outcome)
}

// Outcome is what came of one scenario on one engine.
type Outcome struct {
	Engine   string
	Scenario string
	About    string
	Seed     uint64
	// NotPlayed is why nothing was broken: then the report says nothing.
	NotPlayed string `json:",omitempty"`
	Took      time.Duration
	Report    checker.Report
	Timings   map[string]time.Duration `json:",omitempty"`
	Remarks   []string                 `json:",omitempty"`
	Err       error                    `json:"-"`
	Dir       string                   `json:",omitempty"`
}

// Good says whether every promise was kept, of what was played.
func (o Outcome) Good() bool { return o.Err == nil && len(o.Report.Findings) == 0 }

// String is the outcome in a line.
func (o Outcome) String() string {
	if o.NotPlayed != "" {
		return fmt.Sprintf("%s %s: not played: %s", o.Engine, o.Scenario, o.NotPlayed)
	}
	return fmt.Sprintf("%s %s: %d rows, %d findings, %s", o.Engine, o.Scenario, o.Report.Rows, len(o.Report.Findings), o.Took.Round(time.Second))
}

// Judge says whether what was played is good. Where nothing was played, nothing is.
func Judge(all []Outcome) (good bool, err error) {
	good = true
	played := 0
	for _, o := range all {
		if o.NotPlayed == "" {
			played++
			good = good && o.Good()
		}
	}
	if played == 0 {
		return false, errors.New("nothing was played")
	}
	return good, nil
}

// Quiet has the driver say nothing of what breaks, which is known. Nothing is to run that uses it.
func Quiet() { _ = mysql.SetLogger(&mysql.NopLogger{}) } // it only refuses nil

// Run runs every scenario on every engine, the engines side by side, and returns what came of each.
func (c Campaign) Run(ctx context.Context) (all []Outcome) {
	var mu sync.Mutex
	var engines sync.WaitGroup
	for _, engine := range c.Engines {
		engines.Go(func() {
			c.on(ctx, engine, func(o Outcome) {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, o)
				if c.Done != nil {
					c.Done(o)
				}
			})
		})
	}
	engines.Wait()
	return all
}

// on runs the scenarios on one engine: as many at the same time as c says, but one that breaks the engine itself alone.
func (c Campaign) on(ctx context.Context, engine stage.Engine, done func(Outcome)) {
	places := make(chan struct{}, max(c.Beside, 1))
	var playing sync.WaitGroup
	for _, scenario := range c.Scenarios {
		alone := scenario.Own || scenario.Cluster
		if alone {
			playing.Wait()
		}
		places <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		playing.Go(func() {
			defer func() { <-places }()
			done(c.one(ctx, engine, scenario))
		})
		if alone {
			playing.Wait()
		}
	}
	playing.Wait()
}

func (c Campaign) one(ctx context.Context, engine stage.Engine, scenario stage.Scenario) (o Outcome) {
	o = Outcome{Engine: engine.Name, Scenario: scenario.Name, About: scenario.About, Seed: c.Seed}
	if o.NotPlayed = lacks(engine, scenario); o.NotPlayed != "" {
		return o
	}
	if scenario.Workers.Clock && c.Clock == "" {
		o.NotPlayed = "it needs a worker whose clock can be set"
		return o
	}
	if scenario.Server != nil {
		if engine.Server == nil {
			o.NotPlayed = "it needs a server of its own"
			return o
		}
		own, done, err := scenario.Server(ctx, c.Faketime, engine.Name)
		if err != nil {
			o.NotPlayed = err.Error()
			return o
		}
		defer func() { o.Err = errors.Join(o.Err, done()) }()
		engine = own
	}
	engine, done, err := engine.Fresh(ctx)
	if err != nil {
		o.Err = err
		return o
	}
	defer func() { o.Err = errors.Join(o.Err, done()) }()
	if scenario.Load.Rate == 0 {
		scenario.Load.Rate = 100
	}
	if scenario.Load.Schedules == 0 {
		scenario.Load.Schedules = 20
	}
	if scenario.Drain == 0 {
		scenario.Drain = time.Minute
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(scenario.Name))
	name := strings.ReplaceAll(scenario.Name, "-", "_")
	s := &stage.Stage{Setup: stage.Setup{Scenario: scenario, Engine: engine, Seed: c.Seed ^ h.Sum64(), Rows: c.Rows, Logf: c.Log, ClockProgram: c.Clock,
		Dir: filepath.Join(c.Dir, engine.Name+"-"+scenario.Name), Database: fmt.Sprintf("chaos_%s_%d", name, os.Getpid())}}
	began := time.Now()
	if o.Err = os.MkdirAll(s.Dir, 0o700); o.Err != nil {
		return o
	}
	ctx, cancel := context.WithTimeout(ctx, c.Duration+5*time.Minute)
	defer cancel()
	o.Report, o.Err = s.Play(ctx, c.Duration)
	o.Took, o.Timings, o.Remarks = time.Since(began), s.Timings, s.Remarks
	if o.Good() {
		o.Err = s.Clear(ctx)
	} else {
		o.Dir = s.Dir
	}
	return o
}

// lacks says what an engine lacks for a scenario, empty for nothing.
func lacks(e stage.Engine, s stage.Scenario) string {
	switch {
	case e.Vitess != nil && !s.Sharded && !slices.Contains(onVitess, s.Name):
		return "it needs accounts, KILL, SET GLOBAL or a database of its own, which a Vitess has not"
	case e.Vitess == nil && s.Sharded:
		return "it needs a Vitess"
	case s.Own && e.Server == nil:
		return "it needs a server of its own"
	case s.Cluster && e.Cluster == nil:
		return "it needs a cluster of its own"
	}
	return ""
}

// Close stops the engines' servers.
func (c Campaign) Close() (err error) {
	for _, engine := range c.Engines {
		err = errors.Join(err, engine.Close())
	}
	return err
}

// NeedsClock says whether a scenario wants Campaign.Clock.
func (c Campaign) NeedsClock() bool {
	return slices.ContainsFunc(c.Scenarios, func(s stage.Scenario) bool { return s.Workers.Clock })
}
