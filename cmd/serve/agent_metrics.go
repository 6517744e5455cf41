package serve

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient/agent"
	"prescient/prescient/gauges"
)

// agentProbe looks who works.
type agentProbe struct {
	list  func(ctx context.Context) ([]agent.Known, error)
	pools func(ctx context.Context, agents []agent.Known) ([]agent.Pool, error)
	busy  func() float64
	gauges.Remembered[gauges.Working]
}

func (p *agentProbe) ask(ctx context.Context) (seen gauges.Working, err error) {
	list, err := p.list(ctx)
	if err != nil {
		return seen, err
	}
	pools, err := p.pools(ctx, list)
	return gauges.WorkingOf(list, pools), err
}

var agentBusy = prometheus.NewDesc("prescient_busy_ratio", "Share of worker.concurrency that was in use between the last two heartbeats.", nil, nil)

// Describe implements prometheus.Collector.
func (p *agentProbe) Describe(to chan<- *prometheus.Desc) {
	gauges.Agents.Describe(to)
	to <- agentBusy
}

// Collect implements prometheus.Collector.
func (p *agentProbe) Collect(to chan<- prometheus.Metric) {
	seen, _ := p.Look(p.ask) // what fails shows as prescient_database_up
	gauges.SendAgents(to, seen)
	to <- prometheus.MustNewConstMetric(agentBusy, prometheus.GaugeValue, p.busy())
}
