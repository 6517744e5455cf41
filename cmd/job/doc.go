// Package job has the commands for jobs of steps, and for their runs (runs.go).
package job
