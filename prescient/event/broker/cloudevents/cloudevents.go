// Package cloudevents writes events as CloudEvents 1.0 has them (https://cloudevents.io).
//
// The type of an event is its topic, its subject its key, id and time are its own, and the source is given with the route. Two forms
// are there:
//
//   - Structured: the body is JSON (application/cloudevents+json) with the attributes and the payload: as data where it is JSON
//     (application/json, text/json or no type), as data_base64 where it is anything else, a type that ends in +json, too. An empty payload has neither.
//   - Binary: the body is the payload, and the attributes are headers that begin with ce-, percent-encoded as CloudEvents over HTTP
//     and NATS say; receivers that use the Go SDK have to decode them. The packages kafka and rabbitmq name and write them as the bindings of these protocols want it.
//
// An event that is in a trace says so by the extension traceparent of Distributed Tracing.
//
// The headers Prescient-… of a message are left out, since the attributes say the same. Others stay. A message without an id or a
// topic, or with one that is not UTF-8, is refused: CloudEvents has no such event.
package cloudevents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cloudevents/sdk-go/v2/event"

	"prescient/prescient/event/broker"
)

// Structured returns the form in which the body has everything. The source is a URI or a reference, such as /shop/orders.
func Structured(source string) (broker.Format, error) {
	return format(source, func(e event.Event, m broker.Message) (broker.Message, error) {
		setData(&e, m)
		var body bytes.Buffer
		if err := event.WriteJson(&e, &body); err != nil {
			return m, err
		}
		m.ContentType, m.Body = event.ApplicationCloudEventsJSON, body.Bytes()
		return m, nil
	})
}

// setData sets the payload, and its type where it has one.
func setData(e *event.Event, m broker.Message) {
	if m.ContentType != "" {
		e.SetDataContentType(m.ContentType)
	}
	if len(m.Body) == 0 {
		return
	}
	e.DataEncoded = m.Body
	plain := utf8.Valid(m.Body) && json.Valid(m.Body)
	switch {
	case m.ContentType == "" && plain:
		// No type means JSON.
	case m.ContentType == "":
		e.SetDataContentType("application/octet-stream")
		e.DataBase64 = true
	default:
		e.DataBase64 = !plain || !isJSON(m.ContentType)
	}
}

// isJSON says whether a media type is one that the SDK writes as it is. Of others, such as +json, it would make a JSON string.
func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == event.ApplicationJSON || media == event.TextJSON)
}

// Binary returns the form in which the headers have the attributes.
func Binary(source string) (broker.Format, error) {
	return format(source, func(e event.Event, m broker.Message) (broker.Message, error) {
		attributes := []broker.Header{
			{Name: "specversion", Value: e.SpecVersion()},
			{Name: "id", Value: e.ID()},
			{Name: "source", Value: e.Source()},
			{Name: "type", Value: e.Type()},
			{Name: "subject", Value: e.Subject()},
			{Name: "time", Value: e.Time().Format(time.RFC3339Nano)},
			{Name: broker.HeaderTrace, Value: m.Trace},
		}
		for _, a := range attributes {
			if a.Value != "" {
				m.Headers = append(m.Headers, broker.Header{Name: broker.HeaderCloudEvents + a.Name, Value: encode(a.Value)})
			}
		}
		return m, nil
	})
}

// format returns one that writes a message as an event.
func format(source string, write func(event.Event, broker.Message) (broker.Message, error)) (broker.Format, error) {
	probe := event.New()
	if probe.SetSource(source); probe.Source() == "" || probe.FieldErrors["source"] != nil {
		return nil, fmt.Errorf("cloudevents: the source %q is no URI", source)
	}
	return func(m broker.Message) (broker.Message, error) {
		e, err := eventOf(source, m)
		if err != nil {
			return m, fmt.Errorf("cloudevents: %w", broker.Refused(err))
		}
		m.Headers = slices.DeleteFunc(slices.Clone(m.Headers), isOurs)
		m, err = write(e, m)
		if err != nil {
			return m, fmt.Errorf("cloudevents: %w", broker.Refused(err))
		}
		return m, nil
	}, nil
}

// eventOf returns the attributes of a message.
func eventOf(source string, m broker.Message) (event.Event, error) {
	e := event.New()
	for _, of := range []struct{ what, text string }{{"id", m.ID}, {"topic", m.Topic}, {"key", m.Key}} {
		if !utf8.ValidString(of.text) {
			return e, errors.New("the " + of.what + " is not UTF-8")
		}
	}
	e.SetID(m.ID)
	e.SetSource(source)
	e.SetType(m.Topic)
	if m.Key != "" {
		e.SetSubject(m.Key)
	}
	e.SetTime(m.GeneratedAt.UTC())
	if m.Trace != "" {
		e.SetExtension(broker.HeaderTrace, m.Trace)
	}
	return e, e.Validate()
}

func isOurs(h broker.Header) bool {
	return slices.Contains([]string{broker.HeaderID, broker.HeaderTopic, broker.HeaderKey, broker.HeaderGeneratedAt}, h.Name)
}

// encode percent-encodes the value of a header as CloudEvents over HTTP says.
func encode(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c > ' ' && c <= '~' && c != '"' && c != '%' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
