package service

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"
	"prescient/prescient/forecast"
	"prescient/prescient/heartbeat"
	"prescient/prescient/longrun"
	"prescient/prescient/longrun/wakeup"
	"prescient/prescient/worker"
)

// Part is what can be left out. A forwarder is there where Events has routes, and services outside are told where there are Heartbeats.
type Part string

// The parts.
const (
	// Slots runs slots, and sweeps. Without it there is no Agent either.
	Slots Part = "slots"
	// Agent has other processes know of this one: without it none can drain it.
	Agent Part = "agent"
	// Schedules has timers fire; without it they wait for the next slot.
	Schedules Part = "schedules"
	// LongRuns claims and calls them. Without it there are no Jobs either.
	LongRuns Part = "long runs"
	// Jobs runs jobs of steps; without it they are put off.
	Jobs Part = "jobs"
	// Statistics sums up history, and Forecast makes the forecast: each is done by one process of all that have it.
	Statistics Part = "statistics"
	Forecast   Part = "forecast"
)

var parts = []Part{Slots, Agent, Schedules, LongRuns, Jobs, Statistics, Forecast}

// Options are for New; the zero value is usable.
type Options struct {
	// Worker says which tables there are, and how slots are run. Its Prefix, Dialect, Resolution, Registry, Guards, Name, Times and Log are those of
	// all parts.
	Worker worker.Options
	// Pools are those whose long runs it takes, and how many of each; none by default.
	Pools map[string]int
	// Events says where the events of the outbox go.
	Events Events
	// Heartbeats has services outside told of slots, schedules and long runs; nil for none. Who made it closes it after Run.
	Heartbeats *heartbeat.Sender
	// Notify tells people of what is wrong, where no other process does; nil for none.
	Notify Notify
	// LongRuns is told of those that are called here; nil for none.
	LongRuns *longrun.Observer
	// WakeUp tells other agents at once of long runs; nil for none.
	WakeUp wakeup.WakeUp
	// Metrics are told what the parts do: metrics.New of package prescient/metrics; nil for none.
	Metrics Metrics
	// Tracing makes spans of inserts, calls, slot runs, commits and events: otel.New of package prescient/otel; nil for none.
	Tracing Tracing
	// Version of the program, which the list of agents shows; 64 characters at most.
	Version string
	// Connections is how many connections to the database the process has at most, for that list; 0 for no bound.
	Connections int
	// Without are the parts that are left out; none by default.
	Without []Part
}

// Events says where events go; zero fields mean the defaults of forward.Options.
type Events struct {
	Routes      []forward.Route // without one there is no forwarder
	Lease, Poll time.Duration
	Concurrency int
	Keep        bool
}

// Metrics are told what the parts do, and ask them how they are. Those of package prescient/metrics are meant, which who has none does not compile.
type Metrics interface {
	Worker(jobExecs []string) *worker.Observer
	Forwarder(topics []string) *forward.Observer
	Backlog(ask func(ctx context.Context) (oldest time.Time, age time.Duration, err error))
	Outbox(ask func(ctx context.Context) ([]event.Waiting, error))
	Agents(a *agent.Agent)
	Forecast(ask func(ctx context.Context) (forecast.Report, error))
}

// Notify tells people of what is wrong until ctx ends, by the name of the worker. Notifier of package prescient/notify is meant, which who has none does
// not compile.
type Notify interface {
	Serve(ctx context.Context, worker string)
}

// Tracing makes spans of what Client inserts, what the registry's job_execs are called for, slot runs, and events on their way. That of package prescient/otel is meant.
type Tracing interface {
	Insert(ctx context.Context, jobs []prescient.NewJob) (traceparent string, end func(error))
	Middleware(next func(context.Context, prescient.Call) error) func(context.Context, prescient.Call) error
	Worker() *worker.Observer
	Publish(ctx context.Context, events []event.Event) (traceparent string, end func(error))
	Publishing(m broker.Message) (published func(error))
}

// has says whether a part is there.
func (o *Options) has(part Part) bool { return !slices.Contains(o.Without, part) }

// complete fills in the defaults that several parts have, and checks what no part does.
func (o *Options) complete() error {
	for _, part := range o.Without {
		if !slices.Contains(parts, part) {
			var allowed []string
			for _, part := range parts {
				allowed = append(allowed, string(part))
			}
			return fmt.Errorf("%w: Without has the part %.40q; %s are allowed", prescient.ErrInvalid, string(part), strings.Join(allowed, ", "))
		}
	}
	if !o.has(Slots) {
		o.Without = append(slices.Clone(o.Without), Agent) // it would be listed as one that serves every slot
	}
	w := &o.Worker
	if w.Registry == nil {
		w.Registry = prescient.NewRegistry()
	}
	w.Name = cmp.Or(w.Name, worker.NewName())
	w.Load.Concurrency = cmp.Or(w.Load.Concurrency, worker.DefaultConcurrency)
	w.Times.Lease = cmp.Or(w.Times.Lease, prescient.DefaultLease)
	w.Times.StopGrace = cmp.Or(w.Times.StopGrace, worker.DefaultStopGrace)
	w.Sweep.Every = cmp.Or(w.Sweep.Every, prescient.DefaultSweepEvery)
	return nil
}
