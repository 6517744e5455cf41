package outbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	natsclient "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	goredis "github.com/redis/go-redis/v9"

	"prescient/prescient/localserver"
)

// server is a broker in a process of its own.
type server struct {
	address string
	program string
	args    []string
	answers func(ctx context.Context) error // that it is up
	cmd     *exec.Cmd
}

func (s *server) up(ctx context.Context) error {
	s.cmd = exec.Command(s.program, s.args...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		err := s.answers(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w", filepath.Base(s.program), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *server) down() {
	_ = s.cmd.Process.Kill() // one that has ended needs none
	_ = s.cmd.Wait()
}

func (s *server) close() { s.down() }

// find is a program on PATH, or in a folder of the cache that a script has unpacked it to.
func find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	path, err := exec.LookPath(filepath.Join(localserver.CacheDir(), "redis", "bin", name))
	if err != nil {
		return "", fmt.Errorf("there is no %s on PATH or in the cache: run scripts/redis", name)
	}
	return path, nil
}

// redisSite is a Redis whose every command is on disk when it is answered.
type redisSite struct{ *server }

func openRedis(ctx context.Context, dir string) (site, error) {
	program, err := find("redis-server")
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(address, ":")
	r := redisSite{&server{address: address, program: program,
		args: []string{"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--logfile", filepath.Join(dir, "redis.log")}}}
	r.answers = func(ctx context.Context) error {
		c := r.client()
		defer c.Close()
		return c.Ping(ctx).Err()
	}
	return r, r.up(ctx)
}

func (r redisSite) client() *goredis.Client {
	return goredis.NewClient(&goredis.Options{Addr: r.address, MaxRetries: -1, DialerRetries: 1})
}

func (r redisSite) url() string { return "redis://" + r.address }

func (r redisSite) consumed(ctx context.Context) (all []Consumed, err error) {
	c := r.client()
	defer c.Close()
	entries, err := c.XRange(ctx, topic, "-", "+").Result()
	for _, e := range entries {
		all = append(all, Consumed{ID: fmt.Sprint(e.Values["id"]), Key: fmt.Sprint(e.Values["key"]), Body: fmt.Sprint(e.Values["payload"])})
	}
	return all, err
}

// natsSite is a NATS server with JetStream on disk.
type natsSite struct{ *server }

func openNATS(ctx context.Context, dir string) (site, error) {
	program := filepath.Join(dir, "nats-server")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building nats-server: %w\n%s", err, out)
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "nats.conf")
	text := fmt.Sprintf("listen: %q\njetstream { store_dir: %q, sync_interval: always }\n", address, filepath.Join(dir, "jetstream"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	n := natsSite{&server{address: address, program: program, args: []string{"-c", config, "-l", filepath.Join(dir, "nats.log")}}}
	n.answers = func(ctx context.Context) error {
		return n.with(ctx, func(js jetstream.JetStream) error {
			_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{topic}, Duplicates: 2 * time.Minute})
			return err
		})
	}
	return n, n.up(ctx)
}

func (n natsSite) with(_ context.Context, do func(js jetstream.JetStream) error) error {
	conn, err := natsclient.Connect(n.url(), natsclient.Timeout(time.Second))
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	return do(js)
}

func (n natsSite) url() string { return "nats://" + n.address }

func (n natsSite) consumed(ctx context.Context) (all []Consumed, err error) {
	err = n.with(ctx, func(js jetstream.JetStream) error {
		stream, err := js.Stream(ctx, "EVENTS")
		if err != nil {
			return err
		}
		consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
		if err != nil {
			return err
		}
		for left := stream.CachedInfo().State.Msgs; left > 0; left-- {
			m, err := consumer.Next(jetstream.FetchMaxWait(10 * time.Second))
			if err != nil {
				return errors.Join(fmt.Errorf("%d messages are left", left), err)
			}
			all = append(all, Consumed{ID: m.Headers().Get("Prescient-Id"), Key: m.Headers().Get("Prescient-Key"), Body: string(m.Data())})
		}
		return nil
	})
	return all, err
}
