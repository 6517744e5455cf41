package rabbitmq

import (
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"prescient/prescient/event/broker"
)

// maxShort is how many bytes AMQP's short strings may have.
const maxShort = 255

// publishing returns a message in AMQP's form.
func publishing(m broker.Message) (amqp.Publishing, error) {
	id := broker.Printable(m.ID)
	for _, of := range []struct{ what, text string }{{"topic", m.Topic}, {"id", id}, {"content type", m.ContentType}} {
		if len(of.text) > maxShort {
			return amqp.Publishing{}, fmt.Errorf("the %s has %d bytes; %d are allowed", of.what, len(of.text), maxShort)
		}
	}
	headers := make(amqp.Table, len(m.Headers))
	for _, h := range m.Headers {
		name, value := h.Name, h.Value
		if attribute, decoded, found := h.Attribute(); found {
			name, value = "cloudEvents_"+attribute, decoded
		}
		if len(name) > maxShort {
			return amqp.Publishing{}, fmt.Errorf("the name of a header has %d bytes; %d are allowed", len(name), maxShort)
		}
		headers[name] = value
	}
	return amqp.Publishing{
		Headers:      headers,
		ContentType:  m.ContentType,
		DeliveryMode: amqp.Persistent,
		MessageId:    id,
		Timestamp:    m.GeneratedAt.UTC(),
		Body:         m.Body,
	}, nil
}
