package serve

import (
	"cmp"
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient/agent"
)

// mostPools is how many pools have a label of their own: those whose runs wait the longest.
const mostPools = 100

// agentProbe looks who works.
type agentProbe struct {
	list  func(ctx context.Context) ([]agent.Known, error)
	pools func(ctx context.Context, agents []agent.Known) ([]agent.Pool, error)
	busy  func() float64
	remembered[working]
}

// working are the agents by their states, and their pools; nil where the database does not answer.
type working struct {
	states map[agent.State]int
	pools  []agent.Pool
}

func (p *agentProbe) ask(ctx context.Context) (seen working, err error) {
	list, err := p.list(ctx)
	if err != nil {
		return seen, err
	}
	seen.states = map[agent.State]int{agent.Live: 0, agent.Stopping: 0, agent.Dead: 0}
	for _, known := range list {
		seen.states[known.State]++
	}
	seen.pools, err = p.pools(ctx, list)
	seen.pools = worstPools(seen.pools)
	return seen, err
}

// worstPools are as many of the pools as have a label: those whose runs wait for the longest, of these where the most wait, then where the most
// are under way.
func worstPools(all []agent.Pool) []agent.Pool {
	if len(all) <= mostPools {
		return all
	}
	return slices.SortedStableFunc(slices.Values(all), func(a, b agent.Pool) int {
		return cmp.Or(cmp.Compare(b.Oldest, a.Oldest), cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.Running, a.Running))
	})[:mostPools]
}

var (
	agentsSeen  = prometheus.NewDesc("prescient_agents", "Processes and timers that work, by state: live, stopping, or dead for less than a day and not back under their names.", []string{"state"}, nil)
	runsWaiting = prometheus.NewDesc("prescient_long_runs_waiting", "Long runs of a pool that wait for an agent, among the first 100000; the pool is empty for those of none.", []string{"pool"}, nil)
	runsHeld    = prometheus.NewDesc("prescient_long_runs_running", "Long runs of a pool that agents have, among the first 100000.", []string{"pool"}, nil)
	runsAge     = prometheus.NewDesc("prescient_long_runs_waiting_seconds", "For how long the first of them waits.", []string{"pool"}, nil)
	agentBusy   = prometheus.NewDesc("prescient_busy_ratio", "Share of worker.concurrency that was in use between the last two heartbeats.", nil, nil)
)

// Describe implements prometheus.Collector.
func (p *agentProbe) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{agentsSeen, agentBusy, runsWaiting, runsHeld, runsAge} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (p *agentProbe) Collect(to chan<- prometheus.Metric) {
	seen, _ := p.look(p.ask) // what fails shows as prescient_database_up
	for state, n := range seen.states {
		to <- prometheus.MustNewConstMetric(agentsSeen, prometheus.GaugeValue, float64(n), string(state))
	}
	for _, pool := range seen.pools {
		to <- prometheus.MustNewConstMetric(runsWaiting, prometheus.GaugeValue, float64(pool.Waiting), pool.Name)
		to <- prometheus.MustNewConstMetric(runsHeld, prometheus.GaugeValue, float64(pool.Running), pool.Name)
		to <- prometheus.MustNewConstMetric(runsAge, prometheus.GaugeValue, pool.Oldest.Seconds(), pool.Name)
	}
	to <- prometheus.MustNewConstMetric(agentBusy, prometheus.GaugeValue, p.busy())
}
