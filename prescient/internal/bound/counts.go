package bound

import "github.com/prometheus/client_golang/prometheus"

// Why is why a request was refused before anybody looked at what it wants.
type Why string

// The reasons.
const (
	ByRate  Why = "rate"  // its caller sends more than it may
	ByToken Why = "token" // its address sent too many tokens that are no good
	ByPlace Why = "place" // as many are under way as may be
)

// Counts is how many a server turned away, for Prometheus. A nil one counts nothing.
type Counts struct {
	closed  prometheus.Counter
	refused *prometheus.CounterVec
}

// NewCounts begins at zero, for each reason.
func NewCounts() *Counts {
	c := &Counts{
		closed:  prometheus.NewCounter(prometheus.CounterOpts{Namespace: "prescient", Name: "serve_connections_closed_total", Help: "Connections that were closed, or not let in, since as many were open as may be, in all or from one site."}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "prescient", Name: "serve_refused_total", Help: "Requests that were refused by the rate of their caller, by tokens that are no good, or since no place was free."}, []string{"why"}),
	}
	for _, why := range []Why{ByRate, ByToken, ByPlace} {
		c.refused.WithLabelValues(string(why))
	}
	return c
}

// Closed counts a connection that had to go for another.
func (c *Counts) Closed() {
	if c != nil {
		c.closed.Inc()
	}
}

// Refused counts a request.
func (c *Counts) Refused(why Why) {
	if c != nil {
		c.refused.WithLabelValues(string(why)).Inc()
	}
}

// Describe implements prometheus.Collector.
func (c *Counts) Describe(to chan<- *prometheus.Desc) {
	c.closed.Describe(to)
	c.refused.Describe(to)
}

// Collect implements prometheus.Collector.
func (c *Counts) Collect(to chan<- prometheus.Metric) {
	c.closed.Collect(to)
	c.refused.Collect(to)
}
