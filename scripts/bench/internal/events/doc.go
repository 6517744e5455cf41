// Package events measures the outbox, and forwarders that publish it.
package events
