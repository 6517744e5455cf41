package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"

	"prescient/cmd/internal/program"
	"prescient/prescient/gauges"
	"prescient/prescient/metrics"
	"prescient/prescient/service"
	"prescient/prescient/worker"
)

// process is what there is once, however many shards are served: the address of metrics, and what the service manager is told.
type process struct {
	listen   string // instead of metrics.listen
	registry *prometheus.Registry
	ready    func() // at least one of the parts works

	mu    sync.Mutex
	parts map[string]part // by the shard; that of no shard is the only one
}

// part is a worker of the process.
type part struct {
	alive   func() error
	answers func() error // that its database does
}

func newProcess(listen string) *process {
	return &process{listen: listen, registry: prometheus.NewRegistry(), parts: make(map[string]part)}
}

// begin serves metrics where they are to be served, and tells the service manager how the process is, until stop is called.
func (p *process) begin(ctx context.Context, s *program.Session) (stop func(), err error) {
	watching, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	var watcher sync.WaitGroup
	p.ready = sync.OnceFunc(func() {
		s.Notify(daemon.SdNotifyReady)
		watcher.Go(func() { watchdog(watching, s, p.alive) })
	})
	silence, err := serveHTTP(ctx, s, p.address(s), p.registry, p.alive, p.answers)
	if err != nil {
		unwatch()
		return nil, err
	}
	goesOn := context.AfterFunc(ctx, func() { s.Notify(daemon.SdNotifyStopping) })
	return func() {
		goesOn()
		unwatch()
		watcher.Wait()
		silence()
	}, nil
}

// address is where metrics are served; empty for nowhere.
func (p *process) address(s *program.Session) string {
	return cmp.Or(p.listen, s.Config.Metrics.Listen)
}

// with has what works publish events, be seen in the metrics, and say when it works.
func (p *process) with(ctx context.Context, s *program.Session, o *service.Options) (err error) {
	o.Worker.Observer = &worker.Observer{Working: func() { p.ready() }}
	if p.address(s) != "" {
		told := metrics.New()
		if err := p.of(s.Shard).Register(told); err != nil {
			return err
		}
		s.OnClose(func() { p.of(s.Shard).Unregister(told) })
		o.Metrics = told
	}
	if o.Events, err = s.EventsOf(ctx); err != nil {
		return err
	}
	o.Notify, err = s.NotifierOf(ctx)
	return err
}

// of is the registry. On a shard its metrics have that as a label.
func (p *process) of(shard string) prometheus.Registerer {
	if shard == "" {
		return p.registry
	}
	return prometheus.WrapRegistererWith(prometheus.Labels{"shard": shard}, p.registry)
}

// join has a worker be a part of the process until leave is called.
func (p *process) join(s *program.Session) (leave func()) {
	var backlog gauges.Remembered[time.Duration]
	one := part{alive: s.Service.Alive, answers: func() error {
		_, err := backlog.Look(func(ctx context.Context) (age time.Duration, err error) {
			_, age, err = s.Service.Backlog(ctx)
			return age, err
		})
		return err
	}}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parts[s.Shard] = one
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.parts, s.Shard)
	}
}

// each asks all parts. What a part answers is the answer of the process where no other is better: one shard that is away is no reason to
// restart what serves the others.
func (p *process) each(ask func(part) error) error {
	p.mu.Lock()
	parts := maps.Clone(p.parts)
	p.mu.Unlock()
	if len(parts) == 0 {
		return errors.New("it does not work yet")
	}
	var all []error
	for _, shard := range slices.Sorted(maps.Keys(parts)) {
		err := ask(parts[shard])
		switch {
		case err == nil:
			return nil
		case shard != "":
			err = fmt.Errorf("shard %s: %w", shard, err)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

func (p *process) alive() error { return p.each(func(one part) error { return one.alive() }) }

func (p *process) answers() error { return p.each(func(one part) error { return one.answers() }) }
