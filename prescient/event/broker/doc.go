// Package broker says what a forwarder asks of a message broker, and in what form an event reaches it.
//
// Each broker is a package of its own below this one, so that a program compiles those that it names:
//
//	cmd.Options{Brokers: map[string]broker.Open{"nats": nats.Open}}
package broker
