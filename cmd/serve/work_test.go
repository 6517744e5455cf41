package serve_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

func TestWorkServesMetricsAndItsHealth(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		const rows = 30
		c := &rig.Calls{Gate: func(context.Context, string, int) {}}
		r.Variables["PRESCIENT_SLOTS_RESOLUTION"] = "1s"
		r.OK("migrate")
		for variable, value := range r.Serve(c)("a") {
			r.Variables[variable] = value
		}
		r.OK("insert", "--entity", "order/x", "--exec", "nobody-knows-it", "--at", "2026-01-01 00:00")
		p := r.Start("a", "work", "--listen", "127.0.0.1:0", "--sweep-every", "1s", "--sweep-grace", "1ms")
		url := "http://" + p.Address(r.T)
		p.Says(r.T, `"message":"working"`)
		rig.Eventually(r.T, "it is healthy", func() bool {
			status, text := rig.Get(r.T, url+"/healthz")
			return status == http.StatusOK && text == "ok\n"
		})
		r.Fill(rows, time.Second)
		rig.Eventually(r.T, "all rows have ended", func() bool { return r.Count("SELECT COUNT(*) FROM job_history") == rows })
		var text string
		for _, want := range []string{`prescient_ended_total{job_exec="check",outcome="done"} 30`, `prescient_due_total{job_exec="check"} 30`,
			`prescient_lateness_seconds_count{job_exec="check"} 30`, `prescient_run_seconds_count{job_exec="check"} 30`,
			`prescient_moved_total{job_exec="nobody-knows-it",why="unregistered"} `, `prescient_slot_runs_total{result="ok"} `, "\nprescient_backlog_age_seconds ",
			"\nprescient_database_up 1\n", "\nprescient_leases_lost_total 0\n", "\nprescient_commit_retries_total ", "\ngo_goroutines "} {
			// The observer hears of a commit a moment after everybody else can see it.
			rig.Eventually(r.T, "metrics have "+want, func() bool {
				_, text = rig.Get(r.T, url+"/metrics")
				return strings.Contains(text, want)
			})
		}
		p.Says(r.T, `"job_exec":"nobody-knows-it","kind":"unregistered"`)
		if status, _ := rig.Get(r.T, url+"/else"); status != http.StatusNotFound {
			r.Errorf("/else: %d", status)
		}
		// Somebody has the address already.
		r.Execute("work", "--listen", strings.TrimPrefix(url, "http://")).Wants(r.T, cmd.ExitFailure, "metrics.listen: ", "address already in use")
		r.Must(p.Process.Signal(syscall.SIGTERM))
		p.Ends(r.T, cmd.ExitOK)
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
	case <-time.After(time.Minute):
		t.Fatalf("never heard %q", want)
	}
}

func TestWorkTellsTheServiceManagerHowItIs(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		m := newManager(r.T)
		r.Variables["NOTIFY_SOCKET"], r.Variables["WATCHDOG_USEC"] = m.path, "200000"
		p := r.Start("a", "work")
		m.hears(r.T, "READY=1")
		for range 3 {
			m.hears(r.T, "WATCHDOG=1")
		}
		r.Must(p.Process.Signal(syscall.SIGTERM))
		p.Ends(r.T, cmd.ExitOK)
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
	rig.Execute(t.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": rig.NoServer}, "", "work", "--listen", "9464").
		Wants(t, cmd.ExitUsage, `--listen: "9464" is no address; want host:port`)
}
