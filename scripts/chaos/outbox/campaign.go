package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/event"
	"prescient/prescient/localserver"
	"prescient/prescient/schedule"
	"prescient/sql/migrate"
)

// breaking is what a scenario does, again and again, with a pause before each time.
type breaking func(s *stage, ctx context.Context) error

// scenarios are what is broken, by name. In mixed it is one of all the others each time.
var scenarios = map[string][]breaking{
	"calm":        nil,
	"kill":        {(*stage).kill},
	"freeze":      {(*stage).freeze},
	"server-kill": {(*stage).killServer},
	"broker-kill": {(*stage).killBroker},
	"cut":         {(*stage).cut},
	"dead-topics": {(*stage).publishDead},
	"mixed":       {(*stage).kill, (*stage).freeze, (*stage).killServer, (*stage).killBroker, (*stage).cut},
}

// Scenarios are their names.
func Scenarios() []string {
	return []string{"calm", "kill", "freeze", "server-kill", "broker-kill", "cut", "dead-topics", "mixed"}
}

// Options are for Run.
type Options struct {
	Flavour  localserver.Flavour
	Broker   string
	Scenario string
	Seed     uint64
	Duration time.Duration
	Dir      string // for logs and the files of brokers
	// RabbitMQ is the URL of a server, where that is the broker.
	RabbitMQ string
}

// Report is what came of a run.
type Report struct {
	Engine   string   `json:"engine"`
	Broker   string   `json:"broker"`
	Scenario string   `json:"scenario"`
	Tried    int      `json:"tried"`   // how often something was broken
	Events   int      `json:"events"`  // that were published
	Repeats  int      `json:"repeats"` // further copies of them
	Aside    int      `json:"set_aside"`
	Findings []string `json:"findings"`
}

const (
	apps       = 6
	forwarders = 3
	// lease is that of the forwarders, and frozen for how long one is.
	lease, frozen = 2 * time.Second, 3 * time.Second
	// patience is for how long the outbox may take to become empty once all is up again.
	patience = time.Minute
)

// ticking are schedules that fire each second.
var ticking = []string{"tick-a", "tick-b", "tick-c"}

// stage is a run under way.
type stage struct {
	Options
	rng       *rand.Rand
	server    *localserver.Server
	site      site
	db        *sql.DB
	processes []*process
	schedules *schedule.Schedules
	outbox    *event.Outbox
	tried     int
}

// Run plays one scenario on a server and a broker of its own, and judges it.
func Run(ctx context.Context, o Options) (Report, error) {
	breaks, known := scenarios[o.Scenario]
	if !known {
		return Report{}, fmt.Errorf("no scenario of events is called %q: there are %s", o.Scenario, strings.Join(Scenarios(), ", "))
	}
	s := &stage{Options: o, rng: rand.New(rand.NewPCG(o.Seed, 1))}
	defer s.tearDown()
	if err := s.setUp(ctx); err != nil {
		return Report{}, err
	}
	told, err := s.play(ctx, breaks)
	if err != nil {
		return Report{}, err
	}
	return s.judge(ctx, told)
}

func (s *stage) setUp(ctx context.Context) (err error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	if s.server, err = localserver.Start(ctx, localserver.Options{Flavour: s.Flavour}); err != nil {
		return err
	}
	if s.site, err = openSite(ctx, s.Broker, s.Dir, s.RabbitMQ); err != nil {
		return err
	}
	root, err := sql.Open("mysql", s.server.DSN(""))
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.ExecContext(ctx, "CREATE DATABASE chaos"); err != nil {
		return err
	}
	dsn := s.server.DSN("chaos")
	pool, err := connect.Open(dsn, 0)
	if err != nil {
		return err
	}
	s.db = pool.DB
	if _, err := migrate.Up(ctx, s.db, migrate.Schema{Resolution: time.Second}); err != nil {
		return err
	}
	c, err := client.New(ctx, s.db, client.Options{})
	if err != nil {
		return err
	}
	s.outbox, s.schedules = event.New(c), schedule.New(c)
	nobody, err := freeAddress()
	if err != nil {
		return err
	}
	config := filepath.Join(s.Dir, "prescient.yaml")
	routes := fmt.Sprintf("slots:\n  resolution: 1s\nworker:\n  lease: 3s\nsweep:\n  every: 1s\nevents:\n  lease: %s\n  routes:\n  - topics: %s\n    url: %s\n  - topics: %s*\n    url: http://%s/events\n", lease, topic, s.site.url(), deadTopic, nobody)
	if err := os.WriteFile(config, []byte(routes), 0o600); err != nil {
		return err
	}
	env := []string{"PRESCIENT_DSN=" + dsn, "PRESCIENT_CONFIG=" + config}
	for i := range forwarders {
		p := &process{name: fmt.Sprintf("forwarder-%d", i), command: []string{"forward"}, env: env, log: filepath.Join(s.Dir, fmt.Sprintf("forwarder-%d.log", i))}
		if i == 0 { // it publishes beside its slots
			p.name, p.command = "worker", []string{"work"}
		}
		if err := p.start(); err != nil {
			return err
		}
		s.processes = append(s.processes, p)
	}
	return nil
}

// play lets apps publish while things break, and brings everything up again. It returns what the apps know.
func (s *stage) play(ctx context.Context, breaks []breaking) (told []Told, err error) {
	for _, id := range ticking {
		if _, err := s.schedules.Create(ctx, s.db, schedule.Schedule{ID: id, Crontabs: []string{"@every 1s"}, Topic: topic}); err != nil {
			return nil, err
		}
	}
	publishing, stop := context.WithTimeout(ctx, s.Duration)
	defer stop()
	var running sync.WaitGroup
	list := make([]*app, apps)
	for i := range list {
		list[i] = &app{name: fmt.Sprintf("app%d", i), db: s.db, outbox: s.outbox, rng: rand.New(rand.NewPCG(s.Seed, uint64(i+2))), bad: s.Broker == "http", numbers: make(map[string]int)}
		running.Go(func() { list[i].run(publishing) })
	}
	for publishing.Err() == nil && len(breaks) > 0 {
		select {
		case <-publishing.Done():
			continue
		case <-time.After(time.Duration(200+s.rng.IntN(600)) * time.Millisecond):
		}
		if err := breaks[s.rng.IntN(len(breaks))](s, ctx); err != nil {
			return nil, err
		}
		s.tried++
	}
	running.Wait()
	for _, a := range list {
		told = append(told, a.told...)
	}
	// The worker fires nothing more, and publishes what it has.
	if err := s.processes[0].end(); err != nil {
		return nil, fmt.Errorf("the worker: %w", err)
	}
	return told, s.untilEmpty(ctx)
}

// kill kills a forwarder, and starts it anew.
func (s *stage) kill(context.Context) error { return s.someone().kill() }

// freeze stops a forwarder for longer than its lease.
func (s *stage) freeze(context.Context) error {
	s.someone().freeze(frozen)
	return nil
}

func (s *stage) someone() *process { return s.processes[s.rng.IntN(len(s.processes))] }

// killServer kills the database server, and starts it again.
func (s *stage) killServer(ctx context.Context) error {
	s.server.Kill()
	time.Sleep(time.Duration(s.rng.IntN(300)) * time.Millisecond)
	return s.server.Restart(context.WithoutCancel(ctx))
}

// cut ends all connections to the database, those of the apps too, in the middle of whatever they do.
func (s *stage) cut(ctx context.Context) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil // the server is just coming up
	}
	defer conn.Close()
	rows, err := conn.QueryContext(ctx, "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()")
	if err != nil {
		return nil
	}
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if err := rows.Close(); err != nil {
		return err
	}
	for _, id := range ids {
		_, _ = conn.ExecContext(ctx, fmt.Sprintf("KILL %d", id)) // one that is gone needs none
	}
	return nil
}

// killBroker takes the broker away, and brings it back.
func (s *stage) killBroker(ctx context.Context) error {
	s.site.down()
	time.Sleep(time.Duration(300+s.rng.IntN(1500)) * time.Millisecond)
	return s.site.up(context.WithoutCancel(ctx))
}

// waiting is how many events are in the outbox that could be published.
func (s *stage) waiting(ctx context.Context) (n int, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM event_outbox WHERE topic NOT LIKE '"+deadTopic+"%'").Scan(&n)
	return n, err
}

// untilEmpty waits until the outbox is empty, or patience is over.
func (s *stage) untilEmpty(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < patience; {
		if n, err := s.waiting(ctx); err == nil && n == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil // the judge finds what is left
}

// judge ends the forwarders, and holds what was consumed against what was told.
func (s *stage) judge(ctx context.Context, told []Told) (r Report, err error) {
	var late []string
	for _, p := range s.processes[1:] {
		if err := p.end(); err != nil {
			late = append(late, fmt.Sprintf("end: %s: %v", p.name, err))
		}
	}
	l := Ledger{Told: told, Aside: make(map[string]bool), Ticking: ticking, Calm: s.Scenario == "calm"}
	if l.Consumed, err = s.site.consumed(ctx); err != nil {
		return r, fmt.Errorf("consuming: %w", err)
	}
	if l.Waiting, err = s.waiting(ctx); err != nil {
		return r, err
	}
	if err := s.db.QueryRowContext(ctx, "SELECT COALESCE(SUM(published), 0) FROM event_count").Scan(&l.Counted); err != nil {
		return r, err
	}
	rows, err := s.db.QueryContext(ctx, "SELECT id FROM event_set_aside")
	if err != nil {
		return r, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return r, err
		}
		l.Aside[id] = true
	}
	if err := rows.Err(); err != nil {
		return r, err
	}
	ids := make(map[string]bool)
	for _, c := range l.Consumed {
		ids[c.ID] = true
	}
	r = Report{Engine: string(s.server.Flavour()), Broker: s.Broker, Scenario: s.Scenario, Tried: s.tried, Events: len(ids), Repeats: len(l.Consumed) - len(ids),
		Aside: len(l.Aside), Findings: append(Judge(l), late...)}
	if len(ids) < len(ticking) {
		return r, errors.New("hardly anything was published")
	}
	if s.Scenario == "dead-topics" {
		used, err := s.connections(ctx)
		if err != nil {
			return r, err
		}
		if most := forwarders*perProcess + apps + spare; used > most {
			r.Findings = append(r.Findings, fmt.Sprintf("connections: up to %d were open at a time; %d processes and %d apps may have %d", used, forwarders, apps, most))
		}
	}
	r.Findings = slices.Compact(r.Findings)
	return r, nil
}

func (s *stage) tearDown() {
	for _, p := range s.processes {
		p.signal(9)
	}
	if s.db != nil {
		_ = s.db.Close()
	}
	if s.site != nil {
		s.site.close()
	}
	if s.server != nil {
		_ = s.server.Close()
	}
}
