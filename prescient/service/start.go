package service

import (
	"context"
	"time"

	"prescient/prescient/agent"
	"prescient/prescient/event"
	"prescient/prescient/event/forward"
	"prescient/prescient/forecast"
	"prescient/prescient/stats"
	"prescient/prescient/worker"
)

// startTime bounds the first statements of the parts, so that a server that hangs is told of.
const startTime = 30 * time.Second

// running are the parts that were started; nil for those that are left out.
type running struct {
	worker  *worker.Worker
	agent   *agent.Agent
	forward *forward.Forwarder
	rollup  *stats.Rollup
	maker   *forecast.Maker
}

// start makes the parts of what stays up.
func (s *Service) start(ctx context.Context) (p running, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	o := s.options.Worker
	if len(s.options.Events.Routes) > 0 {
		if p.forward, err = s.newForwarder(ctx); err != nil {
			return p, err
		}
	}
	if s.options.has(Slots) {
		if p.worker, err = s.newWorker(ctx); err != nil {
			return p, err
		}
	}
	if s.options.has(Agent) {
		if p.agent, err = s.newAgent(ctx, p.worker, agent.Work); err != nil {
			return p, err
		}
	}
	if s.options.has(Statistics) {
		if p.rollup, err = s.newRollup(ctx); err != nil {
			return p, err
		}
	}
	if s.options.has(Forecast) {
		if p.maker, err = forecast.New(ctx, s.db, forecast.Options{Prefix: o.Prefix, Dialect: o.Dialect, Name: o.Name, Log: o.Log}); err != nil {
			return p, err
		}
	}
	s.agent.Store(p.agent)
	s.measure(p)
	return p, nil
}

// newWorker makes the worker, of what is registered by then.
func (s *Service) newWorker(ctx context.Context) (*worker.Worker, error) {
	o := s.options.Worker
	all := []*worker.Observer{o.Observer, s.heartbeats()}
	if s.options.Metrics != nil {
		all = append(all, s.options.Metrics.Worker(s.Registry.Names()))
	}
	if s.options.Tracing != nil {
		all = append(all, s.options.Tracing.Worker())
	}
	o.Observer = joined(append(all, &worker.Observer{Working: s.rests.over})...)
	w, err := worker.New(ctx, s.db, o)
	s.worker.Store(w)
	return w, err
}

// newAgent returns what has others know of this process, beside its worker. A timer has the name that was given, if any.
func (s *Service) newAgent(ctx context.Context, w *worker.Worker, kind agent.Kind) (*agent.Agent, error) {
	o, name := s.options.Worker, s.options.Worker.Name
	if kind != agent.Work && !s.named {
		name = ""
	}
	all := agent.Options{Prefix: o.Prefix, Dialect: o.Dialect, Kind: kind, Name: name, Every: max(o.Sweep.Every, 0), Version: s.options.Version, Assignment: o.Assignment,
		Pools: s.options.Pools, Concurrency: o.Load.Concurrency, Connections: s.options.Connections, Calling: w.CallTime, Log: o.Log}
	if s.Long != nil {
		all.LongRuns = s.Long.Running
	}
	return agent.New(ctx, s.db, all)
}

func (s *Service) newForwarder(ctx context.Context) (*forward.Forwarder, error) {
	o, e := s.options.Worker, s.options.Events
	observer := new(forward.Observer)
	if s.options.Metrics != nil {
		var topics []string
		for _, route := range e.Routes {
			topics = append(topics, route.Topics)
		}
		observer = s.options.Metrics.Forwarder(topics)
	}
	if s.options.Tracing != nil {
		observer.Publishing = s.options.Tracing.Publishing
	}
	return forward.New(ctx, s.db, forward.Options{Prefix: o.Prefix, Dialect: o.Dialect, Routes: e.Routes, Taken: s.Events.Taken(), Name: o.Name, Lease: e.Lease, Poll: e.Poll,
		Concurrency: e.Concurrency, StopGrace: o.Times.StopGrace, Keep: e.Keep, Observer: observer, Log: o.Log})
}

func (s *Service) newRollup(ctx context.Context) (*stats.Rollup, error) {
	o := s.options.Worker
	return stats.New(ctx, s.db, stats.Options{Prefix: o.Prefix, Dialect: o.Dialect, Worker: o.Name, Log: o.Log})
}

// measure has the metrics look at the parts.
func (s *Service) measure(p running) {
	m, o := s.options.Metrics, s.options.Worker
	if m == nil {
		return
	}
	if p.worker != nil {
		m.Backlog(p.worker.Backlog)
	}
	if p.agent != nil {
		m.Agents(p.agent)
	}
	m.Outbox(func(ctx context.Context) ([]event.Waiting, error) { return s.Events.Backlog(ctx, s.db) })
	m.Forecast(func(ctx context.Context) (forecast.Report, error) {
		return forecast.Slots(ctx, s.db, o.Prefix, o.Dialect)
	})
}
