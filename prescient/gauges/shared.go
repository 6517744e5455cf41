package gauges

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient/agent"
	"prescient/prescient/event"
	"prescient/prescient/forecast"
)

// How many names have a label of their own: rows must not make labels without end.
const (
	MostTopics = 100
	MostPools  = 100 // those whose runs wait the longest
)

// Desc describes a metric, whose name begins with prescient_.
func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("prescient_"+name, help, labels, nil)
}

func gauge(to chan<- prometheus.Metric, of *prometheus.Desc, value float64, labels ...string) {
	if m, err := prometheus.NewConstMetric(of, prometheus.GaugeValue, value, labels...); err == nil { // a name that is no text has none
		to <- m
	}
}

// Family is some metrics that are told together.
type Family []*prometheus.Desc

// Describe tells of them.
func (f Family) Describe(to chan<- *prometheus.Desc) {
	for _, of := range f {
		to <- of
	}
}

var (
	backlogAge = desc("backlog_age_seconds", "Age of the oldest slot that has come and still holds rows, of all workers; 0 where there is none.")
	databaseUp = desc("database_up", "Whether the database answered when it was last asked.")

	// Backlog are the metrics of SendBacklog.
	Backlog = Family{backlogAge, databaseUp}
)

// SendBacklog tells of the oldest slot that holds rows, or that the database did not answer.
func SendBacklog(to chan<- prometheus.Metric, age time.Duration, err error) {
	if err != nil {
		gauge(to, databaseUp, 0)
		return
	}
	gauge(to, backlogAge, age.Seconds())
	gauge(to, databaseUp, 1)
}

var (
	outboxAge    = desc("outbox_age_seconds", "For how long the oldest event of a topic has waited in the outbox.", "topic")
	outboxEvents = desc("outbox_events", "Events of a topic that wait, among the first 100000 of the outbox.", "topic")

	// Outbox are the metrics of SendOutbox.
	Outbox = Family{outboxAge, outboxEvents}
)

// SendOutbox tells what waits in the outbox, the oldest first.
func SendOutbox(to chan<- prometheus.Metric, waiting []event.Waiting) {
	for _, w := range waiting[:min(len(waiting), MostTopics)] {
		gauge(to, outboxAge, w.Age.Seconds(), w.Topic)
		gauge(to, outboxEvents, float64(w.Events), w.Topic)
	}
}

// Working is who works: agents by what they are and their states, and their pools; nil where the database does not answer.
type Working struct {
	agents map[kindAndState]int
	pools  []agent.Pool
}

type kindAndState struct {
	kind  agent.Kind
	state agent.State
}

// WorkingOf counts agents.
func WorkingOf(agents []agent.Known, pools []agent.Pool) Working {
	w := Working{agents: make(map[kindAndState]int), pools: worstPools(pools)}
	for _, kind := range []agent.Kind{agent.Work, agent.Run, agent.Sweep} {
		for _, state := range []agent.State{agent.Live, agent.Draining, agent.Stopping, agent.Dead} {
			w.agents[kindAndState{kind, state}] = 0
		}
	}
	for _, known := range agents {
		w.agents[kindAndState{known.Kind, known.State}]++
	}
	return w
}

// worstPools are as many of the pools as have a label: those whose runs wait for the longest, of these where the most wait, then where the most
// are under way.
func worstPools(all []agent.Pool) []agent.Pool {
	if len(all) <= MostPools {
		return all
	}
	return slices.SortedStableFunc(slices.Values(all), func(a, b agent.Pool) int {
		return cmp.Or(cmp.Compare(b.Oldest, a.Oldest), cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.Running, a.Running))
	})[:MostPools]
}

var (
	agentsSeen  = desc("agents", "Who works, by kind: work, or timers of run and sweep; and by state: live, draining, stopping, or dead for less than a day and not back under their names.", "kind", "state")
	runsWaiting = desc("long_runs_waiting", "Long runs of a pool that wait for an agent, among the first 100000; the pool is empty for those of none.", "pool")
	runsHeld    = desc("long_runs_running", "Long runs of a pool that agents have, among the first 100000.", "pool")
	runsAge     = desc("long_runs_waiting_seconds", "For how long the first of them waits.", "pool")

	// Agents are the metrics of SendAgents.
	Agents = Family{agentsSeen, runsWaiting, runsHeld, runsAge}
)

// SendAgents tells who works.
func SendAgents(to chan<- prometheus.Metric, seen Working) {
	for of, n := range seen.agents {
		gauge(to, agentsSeen, float64(n), string(of.kind), string(of.state))
	}
	for _, pool := range seen.pools {
		gauge(to, runsWaiting, float64(pool.Waiting), pool.Name)
		gauge(to, runsHeld, float64(pool.Running), pool.Name)
		gauge(to, runsAge, pool.Oldest.Seconds(), pool.Name)
	}
}

var (
	forecastOver = desc("forecast_over_seconds",
		"By how much the worst of the slots to come ends after the next begins, or starts past an SLA; 0 where all end in time, as far as is known. It is not there where no forecast was made in the last 5 minutes.")

	// Forecast are the metrics of SendForecast.
	Forecast = Family{forecastOver}
)

// SendForecast tells whether the slots to come end in time, by a forecast that is not old.
func SendForecast(to chan<- prometheus.Metric, report forecast.Report) {
	if report.Age.Duration() > forecast.Old {
		return
	}
	worst, _ := report.Worst()
	gauge(to, forecastOver, worst.Over.Duration().Seconds())
}
