package metrics

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// scraped is what Prometheus is told.
func scraped(t *testing.T, of ...prometheus.Collector) string {
	t.Helper()
	answer := httptest.NewRecorder()
	Handler(of...).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if answer.Code != 200 || !strings.Contains(answer.Body.String(), "\ngo_goroutines ") {
		t.Fatalf("%d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// A collector can be registered before there is a worker: a part of it comes once something tells it.
func TestOnlyWhatIsToldOfIsThere(t *testing.T) {
	m := New()
	serves := func(name string, want bool) {
		t.Helper()
		if text := scraped(t, m); strings.Contains(text, "\nprescient_"+name) != want {
			t.Errorf("%s: want %t\n%s", name, want, text)
		}
	}
	for _, name := range []string{"due_total", "events_published_total", "backlog_age_seconds", ""} {
		serves(name, false)
	}
	m.Worker([]string{"unshipped"})
	serves(`due_total{job_exec="unshipped"} 0`, true)
	serves("events_published_total", false)
	m.Forwarder([]string{"orders"})
	serves(`events_published_total{topic="orders"} 0`, true)
	serves("backlog_age_seconds", false)
	m.Backlog(func(context.Context) (time.Time, time.Duration, error) { return time.Time{}, 90 * time.Second, nil })
	serves("backlog_age_seconds 90", true)
	// A worker that takes the place of another goes on with its counts.
	m.Worker([]string{"unpaid"})
	serves(`due_total{job_exec="unshipped"} 0`, true)
	serves(`due_total{job_exec="unpaid"} 0`, true)
}

// A process that serves several shards has each under a label of its own, and takes one away as it leaves.
func TestSeveralGoIntoOneRegistry(t *testing.T) {
	one, two, registry := New(), New(), prometheus.NewRegistry()
	of := func(shard string) prometheus.Registerer {
		return prometheus.WrapRegistererWith(prometheus.Labels{"shard": shard}, registry)
	}
	of("a").MustRegister(one)
	of("b").MustRegister(two)
	one.Worker(nil)
	two.Worker(nil)
	const a, b = `prescient_slot_runs_total{result="ok",shard="a"} 0`, `prescient_slot_runs_total{result="ok",shard="b"} 0`
	if text := scraped(t, registry); !strings.Contains(text, a) || !strings.Contains(text, b) {
		t.Error(text)
	}
	if !of("a").Unregister(one) {
		t.Error("it was not registered")
	}
	if text := scraped(t, registry); strings.Contains(text, a) || !strings.Contains(text, b) {
		t.Error(text)
	}
}
