package cmd_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"prescient/cmd"
)

// address waits for the worker to say where it serves metrics.
func (p *process) address(t *testing.T) string {
	t.Helper()
	p.says(t, `"message":"serving /metrics and /healthz"`)
	for line := range strings.Lines(p.err.String()) {
		var said struct{ Address string }
		if err := json.Unmarshal([]byte(line), &said); err == nil && said.Address != "" {
			return said.Address
		}
	}
	t.Fatalf("no address in %s", p.err.String())
	return ""
}

func get(t *testing.T, url string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestWorkServesMetricsAndItsHealth(t *testing.T) {
	eachServer(t, func(r *rig) {
		const rows = 30
		c := &calls{gate: func(context.Context, string, int) {}}
		r.env["PRESCIENT_SLOTS_RESOLUTION"] = "1s"
		r.ok("migrate")
		for variable, value := range r.serve(c)("a") {
			r.env[variable] = value
		}
		r.ok("insert", "--entity", "order/x", "--exec", "nobody-knows-it", "--at", "2026-01-01 00:00")
		p := r.start("a", "work", "--listen", "127.0.0.1:0", "--sweep-every", "1s", "--sweep-grace", "1ms")
		url := "http://" + p.address(r.T)
		p.says(r.T, `"message":"working"`)
		eventually(r.T, "it is healthy", func() bool {
			status, text := get(r.T, url+"/healthz")
			return status == http.StatusOK && text == "ok\n"
		})
		r.fill(rows, time.Second)
		eventually(r.T, "all rows have ended", func() bool { return r.count("SELECT COUNT(*) FROM job_history") == rows })
		var text string
		for _, want := range []string{`prescient_ended_total{job_exec="check",outcome="done"} 30`, `prescient_due_total{job_exec="check"} 30`,
			`prescient_lateness_seconds_count{job_exec="check"} 30`, `prescient_run_seconds_count{job_exec="check"} 30`,
			`prescient_moved_total{job_exec="nobody-knows-it",why="unregistered"} `, `prescient_slot_runs_total{result="ok"} `, "\nprescient_backlog_age_seconds ",
			"\nprescient_database_up 1\n", "\nprescient_leases_lost_total 0\n", "\nprescient_commit_retries_total ", "\ngo_goroutines "} {
			// The observer hears of a commit a moment after everybody else can see it.
			eventually(r.T, "metrics have "+want, func() bool {
				_, text = get(r.T, url+"/metrics")
				return strings.Contains(text, want)
			})
		}
		p.says(r.T, `"job_exec":"nobody-knows-it","kind":"unregistered"`)
		if status, _ := get(r.T, url+"/else"); status != http.StatusNotFound {
			r.Errorf("/else: %d", status)
		}
		// Somebody has the address already.
		r.execute("work", "--listen", strings.TrimPrefix(url, "http://")).wants(r.T, cmd.ExitFailure, "metrics.listen: ", "address already in use")
		r.must(p.Process.Signal(syscall.SIGTERM))
		p.ends(r.T, cmd.ExitOK)
	})
}

// manager is a service manager that processes tell how they are.
type manager struct {
	path  string
	heard chan string
}

func newManager(t *testing.T) *manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify-") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	m := &manager{path: filepath.Join(dir, "socket"), heard: make(chan string, 100)}
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(m.heard)
		for text := make([]byte, 1000); ; {
			n, err := socket.Read(text)
			if err != nil {
				return
			}
			m.heard <- string(text[:n])
		}
	}()
	t.Cleanup(func() {
		_ = socket.Close()
		_ = os.RemoveAll(dir)
	})
	return m
}

// hears waits for what is said next.
func (m *manager) hears(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-m.heard:
		if got != want {
			t.Fatalf("heard %q, want %q", got, want)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("never heard %q", want)
	}
}

func TestWorkTellsTheServiceManagerHowItIs(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.ok("migrate")
		m := newManager(r.T)
		r.env["NOTIFY_SOCKET"], r.env["WATCHDOG_USEC"] = m.path, "200000"
		p := r.start("a", "work")
		m.hears(r.T, "READY=1")
		for range 3 {
			m.hears(r.T, "WATCHDOG=1")
		}
		r.must(p.Process.Signal(syscall.SIGTERM))
		p.ends(r.T, cmd.ExitOK)
		stopping := false
		for len(m.heard) > 0 {
			stopping = stopping || <-m.heard == "STOPPING=1"
		}
		if !stopping {
			m.hears(r.T, "STOPPING=1")
		}
	})
}

func TestListenIsChecked(t *testing.T) {
	execute(t.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": none}, "", "work", "--listen", "9464").
		wants(t, cmd.ExitUsage, `--listen: "9464" is no address; want host:port`)
}
