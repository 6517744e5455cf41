// Package outbox breaks forwarders, the database and brokers while apps publish, and judges what their consumers got.
//
// Apps publish events in transactions, of which some are rolled back and some commit late; a worker fires schedules that name a topic;
// forwarders, processes of the real command, publish to a real broker. The checker keeps what the apps know outside of the database.
// At the end everything is up again, and once the outbox is empty [Judge] holds what was consumed against that.
package outbox
