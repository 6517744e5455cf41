// Package event has the commands for events: what waits in the outbox, and what brokers have refused for good.
package event
