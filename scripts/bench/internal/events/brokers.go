package events

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsclient "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kfake"

	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/kafka"
	"prescient/prescient/event/broker/nats"
)

// nobody acknowledges at once.
type nobody struct{}

func (nobody) Publish(context.Context, broker.Message) error { return nil }
func (nobody) Close() error                                  { return nil }

// brokers are servers in this process, whose time counts as the client's.
type brokers struct {
	nats, kafka broker.Broker
	stop        func()
}

func startBrokers(ctx context.Context) (b *brokers, err error) {
	dir, err := os.MkdirTemp("", "bench-events-")
	if err != nil {
		return nil, err
	}
	ns, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, err
	}
	go ns.Start()
	stop := func() { ns.Shutdown(); ns.WaitForShutdown(); _ = os.RemoveAll(dir) }
	if !ns.ReadyForConnections(10 * time.Second) {
		stop()
		return nil, errors.New("NATS is not ready after 10 s")
	}
	if err := makeStream(ctx, ns.ClientURL()); err != nil {
		stop()
		return nil, err
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(8, topic))
	if err != nil {
		stop()
		return nil, err
	}
	b = &brokers{}
	b.stop = func() {
		for _, one := range []broker.Broker{b.nats, b.kafka} {
			if one != nil {
				_ = one.Close()
			}
		}
		cluster.Close()
		stop()
	}
	if b.nats, err = nats.Open(ctx, broker.Options{URL: ns.ClientURL()}); err == nil {
		b.kafka, err = kafka.Open(ctx, broker.Options{URL: "kafka://" + strings.Join(cluster.ListenAddrs(), ",")})
	}
	if err != nil {
		b.stop()
		return nil, err
	}
	return b, nil
}

// makeStream makes the stream that keeps the topic.
func makeStream(ctx context.Context, url string) error {
	conn, err := natsclient.Connect(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{topic}, MaxMsgs: 1_000_000, Duplicates: time.Minute})
	return err
}
