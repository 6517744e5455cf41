// Package serve has the commands that run what is due, those that pause it, and the one that publishes events. run, sweep and roll-forward end when they
// are done; work stays up, and says how it is: to Prometheus (metrics.go), to whoever asks for its health (listen.go), and
// to the service manager (notify.go).
package serve
