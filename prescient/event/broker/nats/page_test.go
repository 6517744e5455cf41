package nats_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	app "prescient/prescient/client"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/brokertest"
	"prescient/prescient/event/broker/nats"
	"prescient/prescient/event/forward"
	"prescient/prescient/internal/rig/pages"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// What the consumer on the page leaves to its reader.
var (
	db     *sql.DB
	outbox *event.Outbox
	remind func(ctx context.Context, tx *sql.Tx, data []byte) error
)

// The consumer, as the page has it.
func consume(ctx context.Context, m jetstream.Msg) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if first, err := outbox.Once(ctx, tx, "mailer", m.Headers().Get("Prescient-Id")); err != nil || !first {
		return err
	}
	if err := remind(ctx, tx, m.Data()); err != nil {
		return err
	}
	return tx.Commit()
}

// The consumer on the page works on each event once, whatever is repeated, and again after an error.
func TestTheConsumerInGoOnThePageRuns(t *testing.T) {
	block := pages.Block(t, "prescient/event/broker/README.md", "go", "func consume(")
	if source, err := os.ReadFile("page_test.go"); err != nil || strings.Count(string(source), "\n"+block) != 1 {
		t.Fatalf("the consumer of this test is not that of the page (%v): want\n%s", err, block)
	}
	servertest.EachInTurn(t, func(t *testing.T, d servertest.Database) {
		ctx := t.Context()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		running, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(), SyncAlways: true})
		must(err)
		go running.Start()
		t.Cleanup(func() { running.Shutdown(); running.WaitForShutdown() })
		if !running.ReadyForConnections(brokertest.Patience) {
			t.Fatal("the server is not ready")
		}
		conn, err := client.Connect(running.ClientURL())
		must(err)
		t.Cleanup(conn.Close)
		js, err := jetstream.New(conn)
		must(err)
		s, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.late"}})
		must(err)

		owner := pages.Tables(t, d, "")
		_, err = owner.Exec("CREATE TABLE reminder (payload VARBINARY(100) NOT NULL)")
		must(err)
		checks, err := app.New(ctx, owner, app.Options{})
		must(err)
		failed := false
		db, outbox = owner.DB, event.New(checks)
		remind = func(ctx context.Context, tx *sql.Tx, data []byte) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO reminder VALUES (?)", data)
			if string(data) == "two" && !failed {
				failed = true
				return errors.New("not now")
			}
			return err
		}
		b, err := nats.Open(ctx, broker.Options{URL: running.ClientURL()})
		must(err)
		t.Cleanup(func() { _ = b.Close() })
		for _, id := range []string{"one", "two", "three"} {
			must(outbox.Publish(ctx, owner, event.Event{ID: id, Topic: "orders.late", Key: "order/42", Payload: []byte(id)}))
		}
		f, err := forward.New(ctx, owner, forward.Options{Taken: outbox.Taken(), Routes: []forward.Route{{Topics: "*", Broker: b}}})
		must(err)
		must(f.RunUntilEmpty(ctx))
		_, err = js.PublishMsg(ctx, &client.Msg{Subject: "orders.late", Header: client.Header{"Prescient-Id": {"one"}}, Data: []byte("one, again")})
		must(err)

		consumer, err := s.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: "mailer", AckPolicy: jetstream.AckExplicitPolicy})
		must(err)
		for answered := 0; answered < 4; {
			m, err := consumer.Next(jetstream.FetchMaxWait(brokertest.Patience))
			must(err)
			if err := consume(ctx, m); err != nil {
				if err.Error() != "not now" {
					t.Fatal(err)
				}
				must(m.Nak())
				continue
			}
			must(m.DoubleAck(ctx))
			answered++
		}
		var got []string
		must(owner.Select(&got, "SELECT payload FROM reminder ORDER BY payload"))
		if strings.Join(got, ", ") != "one, three, two" || !failed {
			t.Errorf("it did %q", got)
		}
		info, err := consumer.Info(ctx)
		if err != nil || info.NumAckPending != 0 || info.NumPending != 0 {
			t.Errorf("%+v, %v", info, err)
		}
	})
}
