package broker

import (
	"encoding/json"
	"time"
)

// Format is what a route makes of a message before the broker gets it. Its error is that of a message which no retry helps: it is
// refused for good.
type Format func(m Message) (Message, error)

// Plain is the format of routes that name none: the payload as it is, and headers that say what it is about.
func Plain(m Message) (Message, error) {
	m.Headers = []Header{{HeaderID, Printable(m.ID)}, {HeaderTopic, m.Topic}, {HeaderKey, Printable(m.Key)},
		{HeaderGeneratedAt, m.GeneratedAt.UTC().Format(time.RFC3339Nano)}}
	m.ContentType = ContentType(m.Body)
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
