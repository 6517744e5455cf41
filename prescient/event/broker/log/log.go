// Package log writes events to the log, one line for each: to see them on a machine where no broker is.
//
// The URL is "log:", without anything behind it. A line is at level info, and has id, topic, key, generated_at (RFC 3339, UTC),
// content_type where it is known, the headers, and payload where the body is UTF-8, payload_base64 where it isn't. Nothing is
// refused. An event is acknowledged once its line was handed to the log, which may still lose it: a write that fails is not seen.
package log

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"prescient/prescient/event/broker"
)

// Open returns a broker that writes to Options.Log. A log that takes no lines at info is an error: it would lose every event.
func Open(_ context.Context, o broker.Options) (broker.Broker, error) {
	if o.URL != "log:" {
		return nil, errors.New(`log: the URL is not "log:"`)
	}
	if !o.Log.Info().Enabled() {
		return nil, errors.New("log: the log takes no lines at info, and would lose every event: give it log.level info")
	}
	return lines{o.Log}, nil
}

// lines is a log that events go to.
type lines struct{ log zerolog.Logger }

// Publish implements broker.Broker.
func (l lines) Publish(ctx context.Context, m broker.Message) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	line := l.log.Info().Str("id", m.ID).Str("topic", m.Topic).Str("key", m.Key).
		Str("generated_at", m.GeneratedAt.UTC().Format(time.RFC3339Nano))
	if m.ContentType != "" {
		line.Str("content_type", m.ContentType)
	}
	if len(m.Headers) > 0 {
		headers := zerolog.Dict()
		for _, h := range m.Headers {
			headers.Str(h.Name, h.Value)
		}
		line.Dict("headers", headers)
	}
	if utf8.Valid(m.Body) {
		line.Str("payload", string(m.Body))
	} else {
		line.Str("payload_base64", base64.StdEncoding.EncodeToString(m.Body))
	}
	line.Msg("event")
	return nil
}

// Close implements broker.Broker: the log stays open.
func (lines) Close() error { return nil }
