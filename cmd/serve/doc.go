// Package serve has the commands that run what is due, pause it, and publish events. What work says of itself is in metrics.go, listen.go and notify.go.
package serve
