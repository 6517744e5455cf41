//go:build unix

package redis_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"

	"prescient/prescient/event/broker/brokertest"
	"prescient/prescient/localserver"
)

// program returns redis-server as it is on PATH, or as scripts/redis has unpacked it.
func program(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("redis-server"); err == nil {
		return path
	}
	folders := filepath.SplitList(os.Getenv("PRESCIENT_SERVER_DIR"))
	for _, folder := range append(folders, filepath.Join(localserver.CacheDir(), "redis")) {
		for _, sub := range []string{"", "bin"} {
			if path, err := exec.LookPath(filepath.Join(folder, sub, "redis-server")); err == nil {
				return path
			}
		}
	}
	t.Fatal("there is no redis-server on PATH or in the cache: run scripts/redis, or apt-get install redis-server")
	return ""
}

// process is a Redis server of one test, with its files in a folder of its own.
type process struct {
	t       *testing.T
	path    string
	dir     string
	port    int
	command *exec.Cmd
}

func startServer(t *testing.T) *process {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // the port is free now, and hardly given to another soon
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, path: program(t), dir: t.TempDir(), port: l.Addr().(*net.TCPAddr).Port}
	l.Close()
	p.start()
	t.Cleanup(p.stop)
	return p
}

func (p *process) url() string { return fmt.Sprintf("redis://:s3cret@127.0.0.1:%d/0", p.port) }

// start returns once the server answers.
func (p *process) start() {
	p.t.Helper()
	p.command = exec.Command(p.path, "--port", strconv.Itoa(p.port), "--bind", "127.0.0.1", "--dir", p.dir, "--requirepass", "s3cret",
		"--appendonly", "yes", "--appendfsync", "always", "--save", "", "--daemonize", "no", "--logfile", filepath.Join(p.dir, "log"))
	if err := p.command.Start(); err != nil {
		p.t.Fatal(err)
	}
	c := p.connect()
	defer c.Close()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for started := time.Now(); c.Ping(p.t.Context()).Err() != nil; <-again.C {
		if time.Since(started) > brokertest.Patience {
			said, _ := os.ReadFile(filepath.Join(p.dir, "log"))
			p.t.Fatalf("the server does not answer: %s", said)
		}
	}
}

// connect returns a client that the caller closes.
func (p *process) connect() *client.Client {
	options, err := client.ParseURL(p.url())
	if err != nil {
		p.t.Fatal(err)
	}
	return client.NewClient(options)
}

func (p *process) stop() {
	p.signal(syscall.SIGKILL)
	_ = p.command.Wait() // it says that it was killed
}

func (p *process) signal(s syscall.Signal) {
	if err := p.command.Process.Signal(s); err != nil {
		p.t.Error(err)
	}
}
