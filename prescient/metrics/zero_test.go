package metrics

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/gauges"
	"prescient/prescient/worker/books"
)

// begun are the metrics of a worker with these job_execs.
func begun(jobExecs ...string) *rowMetrics {
	m := newRowMetrics()
	m.begin(jobExecs)
	return m
}

// gatherer is a registry with the metrics of a worker.
func gatherer(t *testing.T, m *rowMetrics) *prometheus.Registry {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.collectors()...)
	return registry
}

// series are the counters, gauges and histograms of a registry by name and labels, as Prometheus writes them.
func series(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]float64)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, l := range metric.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			all[fmt.Sprintf("%s{%s}", family.GetName(), strings.Join(labels, ","))] =
				metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return all
}

// increase() of Prometheus sees the first failure only where there was a value before it.
func TestEachLabelThatIsKnownIsThereFromTheStart(t *testing.T) {
	got := series(t, gatherer(t, begun("unshipped")))
	want := []string{`prescient_slot_runs_total{result="ok"}`, `prescient_slot_runs_total{result="error"}`}
	for _, name := range []string{"unshipped", books.OtherExecs} {
		for _, metric := range []string{"due_total", "dropped_total", "call_errors_total", "lateness_seconds", "run_seconds"} {
			want = append(want, fmt.Sprintf(`prescient_%s{job_exec=%q}`, metric, name))
		}
		for _, outcome := range prescient.Outcomes() {
			if series := fmt.Sprintf(`prescient_ended_total{job_exec=%q,outcome=%q}`, name, outcome); !outcome.ByApp() {
				want = append(want, series)
			} else if _, there := got[series]; there {
				t.Errorf("%s is there, though no worker ends that", series)
			}
		}
		for _, why := range []string{"returned", "error", "put_off", "unregistered"} {
			want = append(want, fmt.Sprintf(`prescient_moved_total{job_exec=%q,why=%q}`, name, why))
		}
	}
	events, registry := newEventMetrics(), prometheus.NewRegistry()
	events.begin([]string{"orders", "audit.*", "*"})
	registry.MustRegister(events.collectors()...)
	of := series(t, registry)
	for _, metric := range []string{"published_total", "failed_total", "set_aside_total"} {
		want = append(want, fmt.Sprintf(`prescient_events_%s{topic="orders"}`, metric), fmt.Sprintf(`prescient_events_%s{topic=%q}`, metric, books.OtherExecs))
	}
	want = append(want, `prescient_event_delay_seconds{topic="orders"}`)
	for name, v := range of {
		got[name] = v
		if strings.Contains(name, "*") {
			t.Errorf("%s: a pattern is no topic", name)
		}
	}
	for _, name := range want {
		if v, there := got[name]; !there || v != 0 {
			t.Errorf("%s is %v, %v", name, v, there)
		}
	}
}

func TestOfManyPoolsTheWorstHaveALabel(t *testing.T) {
	var pools []agent.Pool
	for i := range 3 * gauges.MostPools {
		pools = append(pools, agent.Pool{Name: fmt.Sprintf("p%03d", i), Waiting: 1, Oldest: time.Duration(i%(3*gauges.MostPools-5)) * time.Second})
	}
	p := &agentLook{busy: func() float64 { return 0 }, list: func(context.Context) ([]agent.Known, error) { return nil, nil },
		pools: func(context.Context, []agent.Known) ([]agent.Pool, error) { return pools, nil }}
	registry := prometheus.NewRegistry()
	registry.MustRegister(p)
	got, n := series(t, registry), 0
	for name := range got {
		if strings.HasPrefix(name, "prescient_long_runs_waiting_seconds{") {
			n++
		}
	}
	if worst := fmt.Sprintf(`prescient_long_runs_waiting_seconds{pool="p%03d"}`, 3*gauges.MostPools-6); got[worst] != 3*gauges.MostPools-6 || n != gauges.MostPools {
		t.Errorf("%s is %v, of %d", worst, got[worst], n)
	}
	for _, kind := range []agent.Kind{agent.Work, agent.Run, agent.Sweep} {
		for _, state := range []agent.State{agent.Live, agent.Draining, agent.Stopping, agent.Dead} {
			if v, there := got[fmt.Sprintf(`prescient_agents{kind=%q,state=%q}`, kind, state)]; !there || v != 0 {
				t.Errorf("%s %s: %v, %v", kind, state, v, there)
			}
		}
	}
}
