package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
)

// rowMetrics are what a worker tells Prometheus. Their names begin with prescient_.
type rowMetrics struct {
	execs labels
	ended, moved, dropped, failed, slotRuns,
	due *prometheus.CounterVec
	lateness, runTime                                      *prometheus.HistogramVec
	slotSeconds                                            prometheus.Histogram
	retries, leasesLost, takeovers, locked, stuck, overSLA prometheus.Counter
}

// mostExecs is how many job_execs that are registered have a label from the start.
const mostExecs = 200

// strangers is how many names that are not registered have a label. Rows must not make labels without end.
const strangers = 20

func newRowMetrics() *rowMetrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "prescient", Name: name, Help: help}, labels)
	}
	single := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "prescient", Name: name, Help: help})
	}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "prescient", Name: name, Help: help, Buckets: buckets}, []string{"job_exec"})
	}
	return &rowMetrics{
		execs:    newLabels(strangers),
		due:      counter("due_total", "Rows that were due, and whose answer was committed.", "job_exec"),
		ended:    counter("ended_total", "Jobs that ended.", "job_exec", "outcome"),
		moved:    counter("moved_total", "Rows that went to a later slot: returned a time, error to be retried, or without a call, put_off or unregistered.", "job_exec", "why"),
		dropped:  counter("dropped_total", "Ends that were thrown away, since the app had changed the row meanwhile.", "job_exec"),
		failed:   counter("call_errors_total", "Calls in slot runs that answered with an error, timed out or panicked; prescient_run_seconds_count has all.", "job_exec"),
		slotRuns: counter("slot_runs_total", "Slot runs of this worker, those of the sweeper included: ok or error.", "result"),
		lateness: histogram("lateness_seconds", "Start of a call against its slot.",
			[]float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600, 4 * 3600, 24 * 3600}),
		runTime: histogram("run_seconds", "Run time of a call.", []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}),
		slotSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "prescient", Name: "slot_run_seconds",
			Help: "Time that a slot run took.", Buckets: []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 900, 3600}}),
		retries:    single("commit_retries_total", "Commits that were tried again, after deadlocks, lock waits and lost connections."),
		leasesLost: single("leases_lost_total", "Leases that were lost to another worker."),
		takeovers:  single("takeovers_total", "Buckets that were taken over from a worker whose lease had lapsed."),
		locked:     single("locked_total", "Rows that a slot run left behind for a sweep, since open transactions of others have them locked."),
		stuck:      single("stuck_total", "Rows that a slot run left behind, since what became of them could not be written."),
		overSLA:    single("over_sla_total", "Calls that started later than their SLA."),
	}
}

// begin has all that may be told of these job_execs be there, as zero, and of those beyond the bound.
func (m *rowMetrics) begin(jobExecs []string) {
	for _, name := range jobExecs[:min(len(jobExecs), mostExecs)] {
		m.execs.know(name)
		m.start(name)
	}
	m.start(books.OtherExecs)
	for _, result := range []string{ranOK, ranError} {
		m.slotRuns.WithLabelValues(result)
	}
}

// collectors are all of the metrics.
func (m *rowMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.due, m.ended, m.moved, m.dropped, m.failed, m.slotRuns, m.lateness, m.runTime, m.slotSeconds, m.retries,
		m.leasesLost, m.takeovers, m.locked, m.stuck, m.overSLA}
}

// Why a row went to a later slot, and how a slot run went: values of labels.
const (
	whyReturned, whyError, whyPutOff, whyUnregistered = "returned", "error", "put_off", "unregistered"
	ranOK, ranError                                   = "ok", "error"
)

// start has all that may be told of a job_exec be there from the start, as zero: increase() sees the first failure only where there was
// a value before it.
func (m *rowMetrics) start(name string) {
	m.due.WithLabelValues(name)
	m.dropped.WithLabelValues(name)
	m.failed.WithLabelValues(name)
	m.lateness.WithLabelValues(name)
	m.runTime.WithLabelValues(name)
	for _, outcome := range prescient.Outcomes() {
		if !outcome.ByApp() {
			m.ended.WithLabelValues(name, string(outcome))
		}
	}
	for _, why := range []string{whyReturned, whyError, whyPutOff, whyUnregistered} {
		m.moved.WithLabelValues(name, why)
	}
}

func (m *rowMetrics) slotRun(f books.Figures, err error) {
	result := ranOK
	if err != nil {
		result = ranError
	}
	m.slotRuns.WithLabelValues(result).Inc()
	m.slotSeconds.Observe(f.Took.Seconds())
	m.retries.Add(float64(f.Retries))
	m.leasesLost.Add(float64(f.LeasesLost))
	m.takeovers.Add(float64(f.Takeovers))
	m.locked.Add(float64(f.Locked))
	m.stuck.Add(float64(f.Stuck))
	m.overSLA.Add(float64(f.OverSLA))
}

func (m *rowMetrics) answered(answers []worker.Result) {
	for i := range answers {
		a := &answers[i]
		name := m.execs.of(a.Job.JobExec)
		m.due.WithLabelValues(name).Inc()
		switch {
		case a.Dropped:
			m.dropped.WithLabelValues(name).Inc()
		case a.Outcome != "":
			m.ended.WithLabelValues(name, string(a.Outcome)).Inc()
		case a.Unregistered:
			m.moved.WithLabelValues(name, whyUnregistered).Inc()
		case !a.Called:
			m.moved.WithLabelValues(name, whyPutOff).Inc()
		case a.Reason != "":
			m.moved.WithLabelValues(name, whyError).Inc()
		default:
			m.moved.WithLabelValues(name, whyReturned).Inc()
		}
		if a.Failed {
			m.failed.WithLabelValues(name).Inc()
		}
		if a.Called {
			m.lateness.WithLabelValues(name).Observe(a.Lateness.Seconds())
			m.runTime.WithLabelValues(name).Observe(a.Ran.Seconds())
		}
	}
}
