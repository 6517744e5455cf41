// Package metrics tells Prometheus what a process does: [Metrics] is a collector for any registry, and [Handler] serves it.
package metrics
