// Package monitoring writes what watches an installation from outside: rules of Prometheus, and a dashboard of Grafana.
package monitoring
