//go:build unix

package redis_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	client "github.com/redis/go-redis/v9"

	app "prescient/prescient/client"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/brokertest"
	"prescient/prescient/event/broker/redis"
	"prescient/prescient/event/forward"
	"prescient/prescient/internal/rig/pages"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// around is what the consumer on the page leaves to its reader: where it is connected to, and what it does for an event.
const around = `
import json, sys, pymysql, redis
at = json.loads(sys.argv[1])
r = redis.Redis(**at["redis"])
db = pymysql.connect(**at["db"])
def remind(c, payload):
    c.execute("INSERT INTO reminder VALUES (%s)", [payload])
`

// python returns the Python that scripts/python has found, or unpacked.
func python(t *testing.T) string {
	t.Helper()
	folders := filepath.SplitList(os.Getenv("PRESCIENT_SERVER_DIR"))
	for _, path := range append(folders, filepath.Join(localserver.CacheDir(), "python"), filepath.Dir(onPath("python3"))) {
		for _, sub := range []string{"", "bin"} {
			program := filepath.Join(path, sub, "python3")
			if _, err := os.Stat(program); err == nil && exec.Command(program, "-c", "import redis, pymysql, cryptography").Run() == nil {
				return program
			}
		}
	}
	t.Fatal("there is no Python with clients of Redis and MySQL on PATH or in the cache: run scripts/python, or apt-get install python3-redis python3-pymysql python3-cryptography")
	return ""
}

func onPath(name string) string {
	path, _ := exec.LookPath(name) // "" for none
	return path
}

// consumer is the program on the page, as it runs.
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

func startConsumer(t *testing.T, script, at string) *consumer {
	t.Helper()
	c := &consumer{t: t, command: exec.Command(python(t), "-u", script, at), ended: make(chan error, 1)}
	c.command.Stdout, c.command.Stderr = c, c
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

// The consumer on the page works on each event once, whatever becomes of it and of the stream: it dies with events in hand, of which the
// stream has lost some when it starts again.
func TestTheConsumerInPythonOnThePageRuns(t *testing.T) {
	block := pages.Block(t, "prescient/event/broker/README.md", "python", "xreadgroup")
	p := startServer(t)
	var taken atomic.Int64 // databases of Redis, one for each server
	servertest.Each(t, func(t *testing.T, d servertest.Database) { consumes(t, d, p, int(taken.Add(1)), block) })
}

func consumes(t *testing.T, d servertest.Database, p *process, number int, block string) {
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const stream, group = "orders.late", "mailer"
	owner := pages.Tables(t, d, "")
	_, err := owner.Exec("CREATE TABLE reminder (payload VARBINARY(100) NOT NULL)")
	must(err)
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
	publish := func(ids ...string) {
		t.Helper()
		for _, id := range ids {
			must(outbox.Publish(ctx, owner, event.Event{ID: id, Topic: stream, Key: "order/42", Payload: []byte("of " + id)}))
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

	script := filepath.Join(t.TempDir(), "consumer.py")
	must(os.WriteFile(script, []byte(around+block), 0o600))
	at := where(t, d, options)
	reminded := func() string {
		t.Helper()
		var all []string
		must(owner.Select(&all, "SELECT payload FROM reminder ORDER BY payload"))
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
	c := startConsumer(t, script, at)
	c.until("all is acknowledged", settled)
	if got := reminded(); got != "of in-hand, of new" {
		t.Errorf("it did %q", got)
	}
	if said := c.text(); strings.Count(said, "\n") != 2 || !strings.Contains(said, "trimmed") {
		t.Errorf("of what the stream has lost it says %q", said)
	}
	c.kill()

	// A repeat of one, and the next: while it is away, and while it is there.
	for _, entry := range []string{"in-hand", "new"} {
		must(r.XAdd(ctx, &client.XAddArgs{Stream: stream, Values: []any{"id", entry, "payload", "again " + entry}}).Err())
	}
	publish("later")
	c = startConsumer(t, script, at)
	c.until("all is acknowledged", settled)
	publish("last")
	c.until("all is acknowledged", settled)
	if got := reminded(); got != "of in-hand, of last, of later, of new" {
		t.Errorf("it did %q", got)
	}
	if said := c.text(); said != "" {
		t.Errorf("it says %q", said)
	}
	c.kill()
}

// where is what the program is told: the arguments of its connections.
func where(t *testing.T, d servertest.Database, options *client.Options) string {
	t.Helper()
	config, err := mysql.ParseDSN(d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(options.Addr)
	if err != nil {
		t.Fatal(err)
	}
	db := map[string]any{"user": config.User, "password": config.Passwd, "database": config.DBName}
	if config.Net == "unix" {
		db["unix_socket"] = config.Addr
	} else {
		dbHost, dbPort, err := net.SplitHostPort(config.Addr)
		var number int
		if _, scanned := fmt.Sscan(dbPort, &number); errors.Join(err, scanned) != nil {
			t.Fatal(err, scanned)
		}
		db["host"], db["port"] = dbHost, number
	}
	text, err := json.Marshal(map[string]any{"redis": map[string]any{"host": host, "port": port, "password": options.Password, "db": options.DB}, "db": db})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
