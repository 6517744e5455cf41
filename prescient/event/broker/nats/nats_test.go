package nats_test

import (
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/brokertest"
	"prescient/prescient/event/broker/nats"
)

// site starts a NATS server in this process with one stream.
func site(t *testing.T) brokertest.Site {
	options := &server.Options{
		Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, Username: "shop", Password: "s3cret",
		JetStream: true, StoreDir: t.TempDir(), SyncAlways: true, MaxPayload: 256 << 10,
	}
	var running *server.Server
	start := func() {
		s, err := server.NewServer(options)
		if err != nil {
			t.Fatal(err)
		}
		go s.Start()
		if !s.ReadyForConnections(brokertest.Patience) {
			t.Fatal("the server is not ready")
		}
		if !s.JetStreamConfig().SyncAlways {
			t.Fatal("the server acknowledges before it has synced")
		}
		running = s
	}
	stop := func() {
		running.Shutdown()
		running.WaitForShutdown()
	}
	start()
	t.Cleanup(func() { stop() })
	address := running.Addr().String()
	options.Port = running.Addr().(*net.TCPAddr).Port
	gate := brokertest.NewGate()
	site := brokertest.Site{
		Open:    nats.Open,
		Options: broker.Options{URL: "nats://shop:s3cret@" + gate.Proxy(t, address) + "?subject=shop.{topic}"},
		Topic:   "orders",
		Arrived: func(t *testing.T, _ int) []broker.Message { return stored(t, address) },
		Freeze:  gate.Freeze, Thaw: gate.Thaw, Start: start, Stop: stop,
	}
	js := connect(t, address)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: stream, Subjects: []string{"shop.orders"}, MaxMsgSize: 200 << 10}); err != nil {
		t.Fatal(err)
	}
	unknown, wildcard := site.Message("r1", "k", nil), site.Message("r2", "k", nil)
	unknown.Topic, wildcard.Topic = "none", "*"
	site.Refused = map[string]broker.Message{
		"larger than the stream allows": site.Message("r3", "k", make([]byte, 220<<10)),
		"larger than the server allows": site.Message("r4", "k", make([]byte, 300<<10)),
		"no stream":                     unknown,
		"a wildcard":                    wildcard,
	}
	return site
}

const stream = "SHOP"

// connect connects straight to the server until the end of the test.
func connect(t *testing.T, address string) jetstream.JetStream {
	t.Helper()
	conn, err := client.Connect(address, client.UserInfo("shop", "s3cret"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// stored returns what is in the stream. All that was acknowledged is.
func stored(t *testing.T, address string) (all []broker.Message) {
	t.Helper()
	s, err := connect(t, address).Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); seq <= s.CachedInfo().State.LastSeq; seq++ {
		raw, err := s.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		key, err := url.PathUnescape(raw.Header.Get(broker.HeaderKey))
		if err != nil {
			t.Error(err)
		}
		m := broker.Message{ID: raw.Header.Get(client.MsgIdHdr), Key: key, ContentType: raw.Header.Get("Content-Type"), Body: raw.Data}
		for name, values := range raw.Header {
			m.Headers = append(m.Headers, broker.Header{Name: name, Value: values[0]})
		}
		all = append(all, m)
	}
	return all
}

func TestNATSIsABroker(t *testing.T) { brokertest.Accept(t, site) }

func TestAnEventThatIsPublishedTwiceIsStoredOnce(t *testing.T) {
	s := site(t)
	b := s.Connect(t)
	for range 2 {
		brokertest.Publish(t, b, s.Message("order-42-1", "42", []byte("{}")))
	}
	if got := s.Arrived(t, 1); len(got) != 1 {
		t.Errorf("%d messages are stored", len(got))
	}
}

func TestAServerThatIsNotThereIsNamedInTheError(t *testing.T) {
	brokertest.NamesWhatIsNotThere(t, nats.Open, "nats")
}

func TestAWrongPasswordIsTriedAgainAndNotShown(t *testing.T) {
	s := site(t)
	s.Options.URL = strings.Replace(s.Options.URL, "s3cret", "s3cret2", 1)
	brokertest.HidesAWrongPassword(t, s)
}

func TestSubjectsThatNATSDoesNotAllow(t *testing.T) {
	for _, url := range []string{
		"nats://h?subject=", "nats://h?subject=a..{topic}", "nats://h?subject={topic}.*", "nats://h?subject=>", "nats://h?subject=a+b",
		"nats://h?subjects=a", "nats://h/path", "amqp://h",
	} {
		if b, err := nats.Open(t.Context(), broker.Options{URL: url}); err == nil {
			b.Close()
			t.Errorf("%s is taken", url)
		}
	}
}
