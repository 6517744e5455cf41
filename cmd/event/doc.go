// Package event has the commands for the outbox.
package event
