// Package otel has spans of OpenTelemetry ([Tracing]): of inserts, of calls, each in a trace of its own that is linked to the insert, of slot runs and their commits, and of events.
package otel
