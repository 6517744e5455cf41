package broker

import "time"

// Message is an event in the form in which it goes to a broker.
type Message struct {
	// ID is the same for every copy of the event: what consumers drop repeats by.
	ID string
	// Topic is where it goes; what that is to a broker, its package says.
	Topic string
	// Key is what the event is about. Events of one key are published one after the other, each once the one before it was
	// acknowledged.
	Key string
	// GeneratedAt is when the event was due, or happened, UTC.
	GeneratedAt time.Time
	// Trace is the trace in which it was put into the outbox, as the header traceparent of W3C Trace Context; empty for none. The forwarder
	// adds that header to what a format returns.
	Trace string
	// ContentType is the media type of the body; empty where nobody knows.
	ContentType string
	// Headers go along, each once, in this order. They are ASCII; a broker without headers puts them where it can.
	Headers []Header
	// Body is what the app gave as payload, byte for byte, unless the route has a format that wraps it.
	Body []byte
}

// Header is a name and what it says.
type Header struct{ Name, Value string }

// The headers of a message that has no other format. In ID and Key what is not printable ASCII is percent-encoded, and so is %.
const (
	HeaderID          = "Prescient-Id"
	HeaderTopic       = "Prescient-Topic"
	HeaderKey         = "Prescient-Key"
	HeaderGeneratedAt = "Prescient-Generated-At" // RFC 3339, UTC
)

// HeaderTrace is the header of W3C Trace Context (https://www.w3.org/TR/trace-context/) that says in which trace an event is. Messages of
// every format have it.
const HeaderTrace = "traceparent"
