package rabbitmq

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"prescient/prescient/event/broker"
)

func TestAMessageInTheFormOfAMQP(t *testing.T) {
	at := time.Date(2026, 3, 1, 14, 0, 0, 0, time.FixedZone("", 3600))
	got, err := publishing(broker.Message{
		ID: "é-1", Topic: "orders", Key: "42", GeneratedAt: at, ContentType: "text/plain",
		Headers: []broker.Header{{Name: broker.HeaderKey, Value: "42"}, {Name: "ce-type", Value: "a%20b"}}, Body: []byte{0xff},
	})
	want := amqp.Publishing{
		Headers: amqp.Table{broker.HeaderKey: "42", "cloudEvents_type": "a b"}, ContentType: "text/plain", DeliveryMode: amqp.Persistent,
		MessageId: "%C3%A9-1", Timestamp: at.UTC(), Body: []byte{0xff},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
}

func TestWhatDoesNotFitInAShortString(t *testing.T) {
	long := strings.Repeat("x", 256)
	for want, m := range map[string]broker.Message{
		"the topic": {Topic: long}, "the id": {ID: strings.Repeat("é", 100)}, "the content type": {ContentType: long}, "the name of a header": {Headers: []broker.Header{{Name: long}}},
	} {
		if _, err := publishing(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s in it", err, want)
		}
	}
	if _, err := publishing(broker.Message{Topic: long[1:], ID: long[1:]}); err != nil {
		t.Error(err)
	}
}

func TestVerdict(t *testing.T) {
	missing := &amqp.Error{Code: amqp.NotFound, Reason: "no exchange", Server: true}
	for _, test := range []struct {
		acked    bool
		returned *amqp.Return
		over     bool
		reason   *amqp.Error
		want     string
		refused  bool
		again    bool // alone
	}{
		{acked: true, want: "<nil>"},
		{acked: true, over: true, want: "<nil>"},
		{acked: true, returned: &amqp.Return{ReplyCode: 312, ReplyText: "NO_ROUTE"}, want: "312 NO_ROUTE: no queue is bound", refused: true},
		{returned: &amqp.Return{ReplyCode: 312, ReplyText: "NO_ROUTE"}, over: true, want: "no queue is bound", refused: true},
		{want: "nack"},
		{over: true, want: "the channel was closed"},
		{over: true, reason: missing, want: "no exchange", again: true},
		{over: true, reason: &amqp.Error{Code: amqp.PreconditionFailed, Server: true}, want: "406", again: true},
		{over: true, reason: &amqp.Error{Code: amqp.AccessRefused, Server: true}, want: "403"},
		{over: true, reason: &amqp.Error{Code: amqp.ConnectionForced, Server: true}, want: "320"},
		{over: true, reason: &amqp.Error{Code: amqp.NotFound}, want: "404"}, // of the client
	} {
		err := verdict(test.acked, test.returned, test.over, test.reason)
		if !strings.Contains(fmt.Sprint(err), test.want) || errors.Is(err, broker.ErrRefused) != test.refused || isException(err) != test.again {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

func TestWhatTheURLSays(t *testing.T) {
	target, exchange, err := parse("amqp://shop:s%2Fcret@host:5679/v?exchange=events&heartbeat=7")
	if err != nil || target != "amqp://shop:s%2Fcret@host:5679/v?heartbeat=7" || exchange != "events" {
		t.Errorf("%s, %s, %v", target, exchange, err)
	}
	for _, url := range []string{
		"amqp://user:s3cret@", "amqp://user:s3cret@a,b", "amqp://user:s3cret@h:x", "amqp://user:s3cret@h?heartbeat=x", "nats://user:s3cret@h",
		"amqp://user:s3cret@h?exchange=a&exchange=b", "amqp://user:s3/cret@h", "amqp://user:s3cret@h?exchange=" + strings.Repeat("x", 256),
	} {
		if _, err := Open(t.Context(), broker.Options{URL: url}); err == nil || strings.Contains(err.Error(), "s3") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
