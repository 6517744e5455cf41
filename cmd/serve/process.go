package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"prescient/cmd/internal/program"
)

// process is what there is once, however many shards are served: the address of metrics, and what the service manager is told.
type process struct {
	listen   string
	registry *prometheus.Registry
	ready    func() // at least one of the parts works

	mu    sync.Mutex
	parts map[string]part // by the shard; that of no shard is the only one
}

// part is a worker of the process.
type part struct {
	alive   func() error
	backlog func() (time.Duration, error)
}

func newProcess() *process {
	p := &process{registry: prometheus.NewRegistry(), parts: make(map[string]part)}
	p.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return p
}

// begin serves metrics where they are to be served, and tells the service manager how the process is, until stop is called.
func (p *process) begin(ctx context.Context, s *program.Session) (stop func(), err error) {
	watching, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	var watcher sync.WaitGroup
	p.ready = sync.OnceFunc(func() {
		s.Notify(daemon.SdNotifyReady)
		watcher.Go(func() { watchdog(watching, s, p.alive) })
	})
	silence, err := serveHTTP(ctx, s, p.listen, p.registry, p.alive, p.backlog)
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

// join has a worker be a part of the process until leave is called. On a shard its metrics have that as a label.
func (p *process) join(shard string, one part, metrics ...prometheus.Collector) (leave func()) {
	var registry prometheus.Registerer = p.registry
	if shard != "" {
		registry = prometheus.WrapRegistererWith(prometheus.Labels{"shard": shard}, registry)
	}
	registry.MustRegister(metrics...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parts[shard] = one
	return func() {
		p.mu.Lock()
		delete(p.parts, shard)
		p.mu.Unlock()
		for _, one := range metrics {
			registry.Unregister(one)
		}
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

// backlog is the least of all: it says whether the database answers.
func (p *process) backlog() (least time.Duration, err error) {
	err = p.each(func(one part) (err error) {
		least, err = one.backlog()
		return err
	})
	return least, err
}
