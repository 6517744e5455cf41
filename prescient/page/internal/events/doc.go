// Package events has the view of the outbox and of the events that brokers refused, and the deeds that send these again or drop them.
package events
