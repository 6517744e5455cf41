package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient/agent"
	"prescient/prescient/event"
	"prescient/prescient/forecast"
	"prescient/prescient/gauges"
)

// What is looked at when somebody asks. Where that fails it shows as prescient_database_up.

type backlogLook struct {
	ask func(ctx context.Context) (time.Time, time.Duration, error)
	gauges.Remembered[time.Duration]
}

// Describe implements prometheus.Collector.
func (l *backlogLook) Describe(to chan<- *prometheus.Desc) { gauges.Backlog.Describe(to) }

// Collect implements prometheus.Collector.
func (l *backlogLook) Collect(to chan<- prometheus.Metric) {
	age, err := l.Look(func(ctx context.Context) (time.Duration, error) {
		_, age, err := l.ask(ctx)
		return age, err
	})
	gauges.SendBacklog(to, age, err)
}

type outboxLook struct {
	ask func(ctx context.Context) ([]event.Waiting, error)
	gauges.Remembered[[]event.Waiting]
}

// Describe implements prometheus.Collector.
func (l *outboxLook) Describe(to chan<- *prometheus.Desc) { gauges.Outbox.Describe(to) }

// Collect implements prometheus.Collector.
func (l *outboxLook) Collect(to chan<- prometheus.Metric) {
	waiting, _ := l.Look(l.ask)
	gauges.SendOutbox(to, waiting)
}

type agentLook struct {
	list  func(ctx context.Context) ([]agent.Known, error)
	pools func(ctx context.Context, agents []agent.Known) ([]agent.Pool, error)
	busy  func() float64
	gauges.Remembered[gauges.Working]
}

var agentBusy = prometheus.NewDesc("prescient_busy_ratio", "Share of worker.concurrency that was in use between the last two heartbeats.", nil, nil)

// Describe implements prometheus.Collector.
func (l *agentLook) Describe(to chan<- *prometheus.Desc) {
	gauges.Agents.Describe(to)
	to <- agentBusy
}

// Collect implements prometheus.Collector.
func (l *agentLook) Collect(to chan<- prometheus.Metric) {
	seen, _ := l.Look(func(ctx context.Context) (seen gauges.Working, err error) {
		list, err := l.list(ctx)
		if err != nil {
			return seen, err
		}
		pools, err := l.pools(ctx, list)
		return gauges.WorkingOf(list, pools), err
	})
	gauges.SendAgents(to, seen)
	to <- prometheus.MustNewConstMetric(agentBusy, prometheus.GaugeValue, l.busy())
}

type forecastLook struct {
	ask func(ctx context.Context) (forecast.Report, error)
	gauges.Remembered[forecast.Report]
}

// Describe implements prometheus.Collector.
func (l *forecastLook) Describe(to chan<- *prometheus.Desc) { gauges.Forecast.Describe(to) }

// Collect implements prometheus.Collector.
func (l *forecastLook) Collect(to chan<- prometheus.Metric) {
	if report, err := l.Look(l.ask); err == nil {
		gauges.SendForecast(to, report)
	}
}
