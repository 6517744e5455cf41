package broker

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"
)

// Format returns a message in another form, in which it goes to the broker. It gets one with the payload as body, its type, and no
// headers. Its error wraps ErrRefused where the message cannot have that form.
type Format func(Message) (Message, error)

// Plain is the format of routes that name none: the payload as it is, and headers that say what it is about.
func Plain(m Message) (Message, error) {
	m.Headers = []Header{{HeaderID, Printable(m.ID)}, {HeaderTopic, m.Topic}, {HeaderKey, Printable(m.Key)},
		{HeaderGeneratedAt, m.GeneratedAt.UTC().Format(time.RFC3339Nano)}}
	return m, nil
}

// ContentType is the media type of a payload: JSON, or just bytes; empty for none.
func ContentType(payload []byte) string {
	switch {
	case payload == nil:
		return ""
	case json.Valid(payload):
		return "application/json"
	}
	return "application/octet-stream"
}

// HeaderCloudEvents begins the names of headers that are attributes of CloudEvents. Their values are percent-encoded as CloudEvents
// over HTTP says.
const HeaderCloudEvents = "ce-"

// Attribute returns the name and value of the attribute of CloudEvents that a header is, for brokers whose binding writes
// them otherwise.
func (h Header) Attribute() (name, value string, found bool) {
	name, found = strings.CutPrefix(h.Name, HeaderCloudEvents)
	if !found {
		return "", "", false
	}
	value, err := url.PathUnescape(h.Value)
	if err != nil {
		value = h.Value
	}
	return name, value, true
}
