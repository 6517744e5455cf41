// Package outbox breaks forwarders, the database and brokers while apps publish events in transactions and schedules fire some. Once
// all is up again and the outbox is empty, [Judge] holds what was consumed against what the apps know.
package outbox
