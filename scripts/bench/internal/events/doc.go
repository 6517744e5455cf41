// Package events is the section of the bench that measures the outbox, and forwarders that publish it.
package events
