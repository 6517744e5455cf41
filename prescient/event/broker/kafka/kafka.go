package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"prescient/prescient/event/broker"
)

// producer is a pair of clients.
type producer struct {
	together *kgo.Client
	// Kafka refuses a batch as a whole, with its small records, where it is larger than the topic allows. This one sends a record
	// at a time, and so shows which of them are too large. It connects when it is first needed.
	alone *kgo.Client
	dials dials
}

// Open returns a broker that publishes to Kafka. It connects when it publishes.
func Open(_ context.Context, o broker.Options) (broker.Broker, error) {
	options, err := parse(o)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	p := &producer{}
	options = append(options, kgo.WithHooks(&p.dials))
	if p.together, err = kgo.NewClient(options...); err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	if p.alone, err = kgo.NewClient(append(options, kgo.MaxBufferedRecords(1), kgo.ProducerLinger(0))...); err != nil {
		p.together.Close()
		return nil, fmt.Errorf("kafka: %w", err)
	}
	return p, nil
}

// Publish implements broker.Broker.
func (p *producer) Publish(ctx context.Context, m broker.Message) error {
	err := produce(ctx, p.together, m)
	if errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.RecordListTooLarge) {
		err = produce(ctx, p.alone, m)
	}
	if err == nil {
		return nil
	}
	if isRefusal(err) {
		err = broker.Refused(err)
	} else if why := p.dials.failure.Load(); why != nil {
		err = fmt.Errorf("%w (%w)", err, *why)
	}
	return fmt.Errorf("kafka: topic %s: %w", m.Topic, err)
}

// dials notes how the last attempt to connect ended: an acknowledgement that does not come says nothing of that.
type dials struct{ failure atomic.Pointer[error] }

// OnBrokerConnect implements kgo.HookBrokerConnect.
func (d *dials) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err == nil {
		d.failure.Store(nil)
	} else {
		d.failure.Store(&err)
	}
}

// produce returns once the record is acknowledged, has failed, or the context has ended. The client, left to itself, would wait on
// for the answer to a record that it has sent.
func produce(ctx context.Context, client *kgo.Client, m broker.Message) error {
	done := make(chan error, 1)
	client.Produce(ctx, record(m), func(_ *kgo.Record, err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("no acknowledgement: %w", context.Cause(ctx))
	}
}

func record(m broker.Message) *kgo.Record {
	r := &kgo.Record{Topic: m.Topic, Value: m.Body, Headers: make([]kgo.RecordHeader, 0, len(m.Headers)+1)}
	if m.Key != "" {
		r.Key = []byte(m.Key)
	}
	if m.Body == nil {
		r.Value = []byte{} // none at all would delete the key in a compacted topic
	}
	if m.ContentType != "" {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: "content-type", Value: []byte(m.ContentType)})
	}
	for _, h := range m.Headers {
		name, value := h.Name, h.Value
		if attribute, decoded, found := h.Attribute(); found {
			name, value = "ce_"+attribute, decoded
		}
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: name, Value: []byte(value)})
	}
	return r
}

// isRefusal says whether no later try changes an error.
func isRefusal(err error) bool {
	return slices.ContainsFunc([]error{
		kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidTopicException,
		kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.InvalidRecord, kerr.PolicyViolation,
	}, func(refusal error) bool { return errors.Is(err, refusal) })
}

// Close implements broker.Broker. What is buffered fails.
func (p *producer) Close() error {
	p.together.Close()
	p.alone.Close()
	return nil
}
