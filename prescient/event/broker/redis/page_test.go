//go:build unix

package redis_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"

	app "prescient/prescient/client"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/brokertest"
	"prescient/prescient/event/broker/redis"
	"prescient/prescient/event/forward"
	"prescient/prescient/internal/rig/pages"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// shops is the folder of the consumer.
const shops = "../../../../scripts/languages"

// consumer is the program, as it runs.
type consumer struct {
	t       *testing.T
	command *exec.Cmd
	ended   chan error
	mu      sync.Mutex
	said    bytes.Buffer
}

func (c *consumer) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said.Write(p)
}

func (c *consumer) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said.String()
}

func startConsumer(t *testing.T, env []string) *consumer {
	t.Helper()
	python := pages.Program(t, "python", "python3", "-c", "import redis, pymysql, cryptography")
	c := &consumer{t: t, command: exec.Command(python, "-u", filepath.Join(shops, "shop_redis.py")), ended: make(chan error, 1)}
	c.command.Stdout, c.command.Stderr, c.command.Env = c, c, env
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.ended <- c.command.Wait() }()
	t.Cleanup(func() { _ = c.command.Process.Kill() })
	return c
}

// until waits until something is so, while the consumer runs.
func (c *consumer) until(what string, is func() bool) {
	c.t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(brokertest.Patience); !is(); {
		select {
		case err := <-c.ended:
			c.ended <- err
			c.t.Fatalf("the consumer ended (%v) before it was so that %s: %s", err, what, c.text())
		case <-again.C:
		}
		if time.Now().After(end) {
			c.t.Fatalf("it is not so that %s: %s", what, c.text())
		}
	}
}

func (c *consumer) kill() {
	_ = c.command.Process.Kill()
	<-c.ended
}

// The shop's consumer works on each event once, whatever becomes of it and of the stream: it dies with events in hand, of which the
// stream has lost some when it starts again.
func TestTheConsumerInPythonRuns(t *testing.T) {
	p := startServer(t)
	var taken atomic.Int64 // databases of Redis, one for each server
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) { consumes(t, d, p, int(taken.Add(1))) })
}

func consumes(t *testing.T, d servertest.Database, p *process, number int) {
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const stream, group = "orders.shipped", "mailer"
	owner := pages.Tables(t, d, "")
	own, err := os.ReadFile(filepath.Join(shops, "shop.sql"))
	must(err)
	for table := range strings.SplitSeq(strings.TrimSpace(string(own)), ";\n") {
		_, err = owner.Exec(table)
		must(err)
	}
	options, err := client.ParseURL(p.url())
	must(err)
	options.DB = number
	r := client.NewClient(options)
	t.Cleanup(func() { _ = r.Close() })
	must(r.XGroupCreateMkStream(ctx, stream, group, "0").Err())

	// The events go by the outbox and the forwarder.
	checks, err := app.New(ctx, owner, app.Options{})
	must(err)
	outbox := event.New(checks)
	b, err := redis.Open(ctx, broker.Options{URL: strings.TrimSuffix(p.url(), "0") + fmt.Sprint(number)})
	must(err)
	t.Cleanup(func() { _ = b.Close() })
	orders := map[string]string{"trimmed-1": "1", "trimmed-2": "2", "in-hand": "3", "new": "4", "later": "5", "last": "6"}
	publish := func(ids ...string) {
		t.Helper()
		for _, id := range ids {
			must(outbox.Publish(ctx, owner, event.Event{ID: id, Topic: stream, Key: "order/42", Payload: []byte(`{"order":"` + orders[id] + `"}`)}))
		}
		f, err := forward.New(ctx, owner, forward.Options{Taken: outbox.Taken(), Routes: []forward.Route{{Topics: "*", Broker: b}}})
		must(err)
		must(f.RunUntilEmpty(ctx))
	}
	publish("trimmed-1", "trimmed-2", "in-hand")
	_, err = r.XReadGroup(ctx, &client.XReadGroupArgs{Group: group, Consumer: "m1", Streams: []string{stream, ">"}}).Result() // and there it died
	must(err)
	must(r.XTrimMaxLen(ctx, stream, 1).Err())
	publish("new")

	env := append(os.Environ(), append(pages.EnvOfShop(t, d.DSN), "REDIS_URL="+strings.TrimSuffix(p.url(), "0")+fmt.Sprint(number), "PYTHONDONTWRITEBYTECODE=1")...)
	mailed := func() string {
		t.Helper()
		var all []string
		must(owner.Select(&all, "SELECT order_id FROM mail ORDER BY order_id"))
		return strings.Join(all, ", ")
	}
	settled := func() bool {
		t.Helper()
		groups, err := r.XInfoGroups(ctx, stream).Result()
		must(err)
		info, err := r.XInfoStream(ctx, stream).Result()
		must(err)
		pending, err := r.XPending(ctx, stream, group).Result() // last of all: what is delivered in between is pending by then
		must(err)
		return pending.Count == 0 && groups[0].LastDeliveredID == info.LastGeneratedID // of a stream that was trimmed Redis knows no lag
	}
	c := startConsumer(t, env)
	c.until("all is acknowledged", settled)
	if got := mailed(); got != "3, 4" {
		t.Errorf("it did %q", got)
	}
	if said := c.text(); strings.Count(said, "\n") != 2 || !strings.Contains(said, "trimmed") {
		t.Errorf("of what the stream has lost it says %q", said)
	}
	c.kill()

	// A repeat of one, and the next: while it is away, and while it is there.
	for _, entry := range []string{"in-hand", "new"} {
		must(r.XAdd(ctx, &client.XAddArgs{Stream: stream, Values: []any{"id", entry, "payload", `{"order":"7"}`}}).Err())
	}
	publish("later")
	c = startConsumer(t, env)
	c.until("all is acknowledged", settled)
	publish("last")
	c.until("all is acknowledged", settled)
	if got := mailed(); got != "3, 4, 5, 6" {
		t.Errorf("it did %q", got)
	}
	if said := c.text(); said != "" {
		t.Errorf("it says %q", said)
	}
	c.kill()
}
