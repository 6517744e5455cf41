// Package serve has the commands that run what is due, pause it, and publish events.
package serve
