package log_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/log"
)

func TestAnEventIsALine(t *testing.T) {
	at := time.Date(2026, 3, 1, 14, 0, 0, 5000, time.FixedZone("", 3600))
	for _, test := range []struct {
		message broker.Message
		want    string
	}{
		{
			broker.Message{ID: "a-1", Topic: "orders", Key: "42", GeneratedAt: at, ContentType: "application/json", Headers: []broker.Header{{Name: "X", Value: "y"}},
				Body: []byte("{\"a\":\n\"é\"}")},
			`{"level":"info","id":"a-1","topic":"orders","key":"42","generated_at":"2026-03-01T13:00:00.000005Z","content_type":"application/json","headers":{"X":"y"},"payload":"{\"a\":\n\"é\"}","message":"event"}`,
		},
		{
			broker.Message{ID: "a-2", Topic: "orders", GeneratedAt: at, Body: []byte{0xff, 0}},
			`{"level":"info","id":"a-2","topic":"orders","key":"","generated_at":"2026-03-01T13:00:00.000005Z","payload_base64":"/wA=","message":"event"}`,
		},
		{
			broker.Message{ID: "a-3", Topic: "orders", GeneratedAt: at},
			`{"level":"info","id":"a-3","topic":"orders","key":"","generated_at":"2026-03-01T13:00:00.000005Z","payload":"","message":"event"}`,
		},
	} {
		var written bytes.Buffer
		b, err := log.Open(t.Context(), broker.Options{URL: "log:", Log: zerolog.New(&written)})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Publish(t.Context(), test.message); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if got := written.String(); got != test.want+"\n" {
			t.Errorf("%s\nwant %s", got, test.want)
		}
	}
}

func TestNothingIsWrittenOnceTheContextHasEnded(t *testing.T) {
	var written bytes.Buffer
	b, err := log.Open(t.Context(), broker.Options{URL: "log:", Log: zerolog.New(&written)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Publish(ctx, broker.Message{}); !errors.Is(err, context.Canceled) || written.Len() > 0 {
		t.Errorf("%v, %s", err, &written)
	}
}

func TestALogThatWouldLoseEventsIsAnError(t *testing.T) {
	for _, o := range []broker.Options{
		{URL: "log:"},
		{URL: "log:", Log: zerolog.New(new(bytes.Buffer)).Level(zerolog.WarnLevel)},
		{URL: "log://user:s3cret@host", Log: zerolog.New(new(bytes.Buffer))},
	} {
		if _, err := log.Open(t.Context(), o); err == nil || bytes.Contains([]byte(err.Error()), []byte("s3cret")) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
