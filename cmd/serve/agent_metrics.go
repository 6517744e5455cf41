package serve

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient/agent"
)

// agentProbe looks who works when it is asked, and not more often than every so often.
type agentProbe struct {
	list func(ctx context.Context) ([]agent.Known, error)
	busy func() float64

	mu     sync.Mutex
	at     time.Time
	states map[agent.State]int
}

// look counts the agents by their states; nil where the database does not answer.
func (p *agentProbe) look() map[agent.State]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.at.IsZero() && time.Since(p.at) < probeEvery {
		return p.states
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	list, err := p.list(ctx)
	p.at, p.states = time.Now(), nil
	if err == nil {
		p.states = map[agent.State]int{agent.Live: 0, agent.Stopping: 0, agent.Dead: 0}
		for _, known := range list {
			p.states[known.State]++
		}
	}
	return p.states
}

var (
	agentsSeen = prometheus.NewDesc("prescient_agents", "Processes that work, by state: live, stopping, or dead for less than a day.", []string{"state"}, nil)
	agentBusy  = prometheus.NewDesc("prescient_busy_ratio", "Share of worker.concurrency that was in use between the last two heartbeats.", nil, nil)
)

// Describe implements prometheus.Collector.
func (p *agentProbe) Describe(to chan<- *prometheus.Desc) { to <- agentsSeen; to <- agentBusy }

// Collect implements prometheus.Collector.
func (p *agentProbe) Collect(to chan<- prometheus.Metric) {
	for state, n := range p.look() {
		to <- prometheus.MustNewConstMetric(agentsSeen, prometheus.GaugeValue, float64(n), string(state))
	}
	to <- prometheus.MustNewConstMetric(agentBusy, prometheus.GaugeValue, p.busy())
}
