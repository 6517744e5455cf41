package nats

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"prescient/prescient/event/broker"
	"prescient/prescient/longrun/wakeup"
)

// wakeUp is a subject of NATS itself, not of a stream: who does not listen misses what is said.
type wakeUp struct {
	conn    *nats.Conn
	subject string
}

// OpenWakeUp returns a wake-up of agents on a subject, at the URL of a broker, and begins to connect. stop ends that. An account needs
// the right to publish to the subject, and to subscribe to it.
func OpenWakeUp(address, subject string, log zerolog.Logger) (w wakeup.WakeUp, stop func(), err error) {
	parts, err := broker.ParseAddress(address, "nats", "tls")
	if err != nil {
		return nil, nil, fmt.Errorf("nats: %w", err)
	}
	if err := checkSubject(subject); err != nil {
		return nil, nil, fmt.Errorf("nats: the subject of agents: %w", err)
	}
	conn, err := nats.Connect(servers(parts), options(parts, broker.Options{Log: log})...)
	if err != nil {
		return nil, nil, fmt.Errorf("nats: %w", err)
	}
	return &wakeUp{conn, subject}, conn.Close, nil
}

// Send implements wakeup.WakeUp. While there is no connection what is said is lost.
func (w *wakeUp) Send(m wakeup.Message) {
	text, err := json.Marshal(m)
	if err != nil || !w.conn.IsConnected() {
		return
	}
	_ = w.conn.Publish(w.subject, text)
}

// Receive implements wakeup.WakeUp.
func (w *wakeUp) Receive(each func(m wakeup.Message)) (stop func(), err error) {
	sub, err := w.conn.Subscribe(w.subject, func(msg *nats.Msg) {
		var m wakeup.Message
		if json.Unmarshal(msg.Data, &m) == nil { // what is no message of ours says nothing
			each(m)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	return func() { _ = sub.Unsubscribe() }, nil
}
