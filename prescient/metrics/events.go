package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient/event/forward"
	"prescient/prescient/gauges"
	"prescient/prescient/worker/books"
)

// eventMetrics are what a forwarder tells Prometheus.
type eventMetrics struct {
	topics                      labels
	published, failed, setAside *prometheus.CounterVec
	delay                       *prometheus.HistogramVec
}

func newEventMetrics() *eventMetrics {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "prescient", Name: name, Help: help}, []string{"topic"})
	}
	return &eventMetrics{
		topics:    newLabels(gauges.MostTopics),
		published: counter("events_published_total", "Events that the broker has acknowledged, and that left the outbox."),
		failed:    counter("events_failed_total", "Publications that are tried again."),
		setAside:  counter("events_set_aside_total", "Events that the broker refused for good."),
		delay: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "prescient", Name: "event_delay_seconds",
			Help: "From the insert of an event to its acknowledgement.", Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60, 600, 3600}}, []string{"topic"}),
	}
}

// collectors are all of the metrics.
func (m *eventMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.published, m.failed, m.setAside, m.delay}
}

// begin has all that may be told of the topics that routes name be there from the start, as zero, and of those beyond the bound: increase()
// sees the first failure only where there was a value before it. The beginning of some topics, as in orders.*, names none.
func (m *eventMetrics) begin(routes []string) {
	m.of(books.OtherExecs)
	for _, topic := range routes {
		if !strings.HasSuffix(topic, "*") {
			m.topics.know(topic)
			m.of(topic)
		}
	}
}

// of returns the label of a topic, of which everything can be told from then on.
func (m *eventMetrics) of(topic string) string {
	label := m.topics.of(topic)
	for _, vec := range []*prometheus.CounterVec{m.published, m.failed, m.setAside} {
		vec.WithLabelValues(label)
	}
	m.delay.WithLabelValues(label)
	return label
}

func (m *eventMetrics) observer() *forward.Observer {
	count := func(to *prometheus.CounterVec) func(topic string) {
		return func(topic string) { to.WithLabelValues(m.of(topic)).Inc() }
	}
	return &forward.Observer{Failed: count(m.failed), SetAside: count(m.setAside), Published: func(topic string, delays []time.Duration) {
		topic = m.of(topic)
		m.published.WithLabelValues(topic).Add(float64(len(delays)))
		for _, d := range delays {
			m.delay.WithLabelValues(topic).Observe(d.Seconds())
		}
	}}
}
