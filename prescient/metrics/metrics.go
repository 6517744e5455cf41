package metrics

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"prescient/prescient/agent"
	"prescient/prescient/event"
	"prescient/prescient/event/forward"
	"prescient/prescient/forecast"
	"prescient/prescient/worker"
)

// Metrics are those of one worker, one forwarder and what is beside them. It is a prometheus.Collector, for concurrent use. What it was not told of
// it does not collect. Several go into one registry under labels of their own (prometheus.WrapRegistererWith).
type Metrics struct {
	rows   *rowMetrics
	events *eventMetrics

	mu    sync.Mutex
	parts map[string][]prometheus.Collector // what there is; what is told of again takes the place of what was
}

// New returns metrics that nobody tells yet.
func New() *Metrics {
	return &Metrics{rows: newRowMetrics(), events: newEventMetrics(), parts: make(map[string][]prometheus.Collector)}
}

// Handler serves these collectors, and what is known of every Go process, as Prometheus asks for it. It panics where two of them have one name.
func Handler(of ...prometheus.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(of...)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry})
}

// Worker returns what is to observe a worker. These job_execs have labels from the start; of others the first few, then they are other.
func (m *Metrics) Worker(jobExecs []string) *worker.Observer {
	m.rows.begin(jobExecs)
	m.set("worker", m.rows.collectors()...)
	return &worker.Observer{SlotRun: m.rows.slotRun, Answered: m.rows.answered}
}

// Forwarder returns what is to observe a forwarder. The topics are those of its routes, which have labels from the start; the beginning of some
// topics, as in orders.*, names none.
func (m *Metrics) Forwarder(topics []string) *forward.Observer {
	m.events.begin(topics)
	m.set("forwarder", m.events.collectors()...)
	return m.events.observer()
}

// Backlog has the oldest slot that holds rows looked at, as by worker.Worker.Backlog.
func (m *Metrics) Backlog(ask func(ctx context.Context) (time.Time, time.Duration, error)) {
	m.set("backlog", &backlogLook{ask: ask})
}

// Agents has other processes, and how busy this one is, looked at.
func (m *Metrics) Agents(a *agent.Agent) {
	m.set("agents", &agentLook{list: a.List, pools: a.Pools, busy: a.Busy})
}

// Outbox has what waits there looked at.
func (m *Metrics) Outbox(ask func(ctx context.Context) ([]event.Waiting, error)) {
	m.set("outbox", &outboxLook{ask: ask})
}

// Forecast has the slots to come looked at, as by forecast.Slots.
func (m *Metrics) Forecast(ask func(ctx context.Context) (forecast.Report, error)) {
	m.set("forecast", &forecastLook{ask: ask})
}

func (m *Metrics) set(part string, to ...prometheus.Collector) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parts[part] = to
}

// Describe implements prometheus.Collector: it has all that may come.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, all := range [][]prometheus.Collector{m.rows.collectors(), m.events.collectors(), {&backlogLook{}, &agentLook{}, &outboxLook{}, &forecastLook{}}} {
		for _, one := range all {
			one.Describe(to)
		}
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	m.mu.Lock()
	parts := slices.Concat(slices.Collect(maps.Values(m.parts))...)
	m.mu.Unlock()
	for _, one := range parts {
		one.Collect(to)
	}
}
