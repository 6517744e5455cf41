// Package gauges tells Prometheus what the database knows of an installation. The processes of work serve some of it beside their own counters;
// [Database] has all of it, for installations of timers.
package gauges
