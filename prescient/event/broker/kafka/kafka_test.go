package kafka_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/brokertest"
	"prescient/prescient/event/broker/kafka"
)

const topic = "orders"

// site starts a cluster of one broker in this process with one topic, and says how to reach it.
func site(t testing.TB) brokertest.Site {
	gate := brokertest.NewGate()
	dir, port := t.TempDir(), 0
	var cluster *kfake.Cluster
	start := func() {
		options := []kfake.Opt{
			kfake.NumBrokers(1), kfake.DataDir(dir), kfake.SyncWrites(), kfake.EnableSASL(), kfake.Superuser("PLAIN", "shop", "s3cret"), kfake.Superuser("SCRAM-SHA-256", "shop", "s3cret"),
			kfake.Superuser("SCRAM-SHA-512", "shop", "s3cret"),
			kfake.ListenFn(func(network, address string) (net.Listener, error) {
				l, err := net.Listen(network, address)
				if err != nil {
					return nil, err
				}
				return gate.Listener(l), nil
			}),
		}
		if port != 0 {
			options = append(options, kfake.Ports(port))
		}
		c, err := kfake.NewCluster(options...)
		if err != nil {
			t.Fatal(err)
		}
		cluster = c
	}
	stop := func() { cluster.Close() }
	start()
	t.Cleanup(func() { stop() })
	address := cluster.ListenAddrs()[0]
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	if port, err = strconv.Atoi(text); err != nil {
		t.Fatal(err)
	}
	size := "200000"
	if err := cluster.CreateTopic(topic, 3, map[string]string{"max.message.bytes": size}); err != nil {
		t.Fatal(err)
	}
	s := brokertest.Site{
		Open:    kafka.Open,
		Options: broker.Options{URL: "kafka://shop:s3cret@" + address},
		Topic:   topic,
		Arrived: func(t *testing.T, n int) []broker.Message { return consume(t, address, n) },
		Freeze:  gate.Freeze, Thaw: gate.Thaw, Start: start, Stop: stop,
	}
	unknown, invalid := s.Message("r1", "k", nil), s.Message("r2", "k", nil)
	unknown.Topic, invalid.Topic = "none", "a b/c"
	s.Refused = map[string]broker.Message{
		"larger than the topic allows":  s.Message("r3", "k", noise(220_000)),
		"larger than the client allows": s.Message("r4", "k", noise(1_100_000)),
		"no such topic":                 unknown,
		"no name of a topic":            invalid,
	}
	return s
}

// noise returns what cannot be compressed.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// consume returns what is in the topic, once there are n records or more.
func consume(t testing.TB, address string, n int) (all []broker.Message) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumeTopics(topic), kgo.SASL(plain.Auth{User: "shop", Pass: "s3cret"}.AsMechanism()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), brokertest.Patience)
	defer cancel()
	for len(all) < n && ctx.Err() == nil {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			m := broker.Message{Key: string(r.Key), Body: r.Value}
			for _, h := range r.Headers {
				switch h.Key {
				case broker.HeaderID:
					m.ID = string(h.Value)
				case "content-type":
					m.ContentType = string(h.Value)
				}
				m.Headers = append(m.Headers, broker.Header{Name: h.Key, Value: string(h.Value)})
			}
			all = append(all, m)
		})
	}
	return all
}

func TestKafkaIsABroker(t *testing.T) {
	brokertest.Accept(t, func(t *testing.T) brokertest.Site { return site(t) })
}

// Many small events make a batch that is larger than their topic allows. None of them is too large.
func TestABatchThatIsTooLargeRefusesNoneOfItsRecords(t *testing.T) {
	s := site(t)
	s.Options.URL += "?linger=200ms"
	b := s.Connect(t)
	const n = 40
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := b.Publish(t.Context(), s.Message(fmt.Sprint("m", i), "k", noise(20_000))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := s.Arrived(t, n); len(got) != n {
		t.Errorf("%d records have arrived", len(got))
	}
}

func TestEachMechanismAuthenticates(t *testing.T) {
	s := site(t)
	for _, mechanism := range []string{"plain", "scram-sha-256", "scram-sha-512"} {
		with := s
		with.Options.URL += "?linger=0s&sasl=" + mechanism
		brokertest.Publish(t, with.Connect(t), s.Message(mechanism, "k", []byte("{}")))
	}
}

func TestAServerThatIsNotThereIsNamedInTheError(t *testing.T) {
	brokertest.NamesWhatIsNotThere(t, kafka.Open, "kafka")
}

func TestAWrongPasswordIsTriedAgainAndNotShown(t *testing.T) {
	s := site(t)
	s.Options.URL = strings.Replace(s.Options.URL, "s3cret", "s3cret2", 1)
	brokertest.HidesAWrongPassword(t, s)
}

func TestHeadersOfCloudEventsHaveKafkasNames(t *testing.T) {
	s := site(t)
	b := s.Connect(t)
	brokertest.Publish(t, b, broker.Message{ID: "a", Topic: topic, ContentType: "text/plain", Headers: []broker.Header{{Name: "ce-id", Value: "%C3%A9"}, {Name: "x-ce-y", Value: "b"}}})
	got := fmt.Sprint(s.Arrived(t, 1)[0].Headers)
	if want := "[{content-type text/plain} {ce_id é} {x-ce-y b}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestWrongURLsAreSaidWithoutThem(t *testing.T) {
	for _, url := range []string{
		"kafka://user:s3cret@", "kafka://user:s3cret@h/topic", "kafka://user:s3cret@h?sasl=gssapi", "kafka://user:s3cret@h?linger=2", "kafka://user:s3cret@h?linger=1m",
		"kafka://user:s3cret@h?max_batch=1", "kafka://s3cret@h", "kafka://h?sasl=plain", "kafka://h?acks=1",
	} {
		if _, err := kafka.Open(t.Context(), broker.Options{URL: url}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// BenchmarkPublish has 256 events under way, as a forwarder has.
func BenchmarkPublish(b *testing.B) {
	for _, linger := range []string{"0s", "1ms", "2ms", "5ms"} {
		b.Run(linger, func(b *testing.B) {
			s := site(b)
			s.Options.URL += "?linger=" + linger
			to := s.Connect(b)
			b.SetParallelism(128)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if err := to.Publish(b.Context(), s.Message("m", fmt.Sprint(i), []byte(`{"total":12}`))); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
