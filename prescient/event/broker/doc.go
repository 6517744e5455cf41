// Package broker says what a forwarder asks of a message broker. A program compiles the brokers that it names, each a package below:
//
//	cmd.Options{Brokers: map[string]broker.Open{"nats": nats.Open}}
//
// Each sends body and headers of the [Message], its content type where known, and its id as [Printable] has it. The key is in Prescient-Key,
// or where the route's format has it. What is not refused for good is tried again.
package broker
