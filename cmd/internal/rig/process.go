package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
)

// programs are those that tests want, built once each.
var programs struct {
	sync.Mutex
	dir   string
	built map[string]string // the path, by package
}

// Program returns the path of the real program.
func Program(t *testing.T) string {
	t.Helper()
	return Build(t, "prescient/cmd/prescient")
}

// Build returns the path of the program that a package is.
func Build(t *testing.T, of string) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	if program := programs.built[of]; program != "" {
		return program
	}
	if programs.dir == "" {
		dir, err := os.MkdirTemp("", "prescient-cmd-")
		if err != nil {
			t.Fatal(err)
		}
		programs.dir, programs.built = dir, make(map[string]string)
	}
	program := filepath.Join(programs.dir, path.Base(of))
	if out, err := exec.Command("go", "build", "-trimpath", "-o", program, of).CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", of, err, out)
	}
	programs.built[of] = program
	return program
}

// Process is the real program at work.
type Process struct {
	*exec.Cmd
	name     string
	Out, Err Buffer
	done     chan struct{}
}

// Start starts the real program as a worker of a name.
func (r *Rig) Start(name string, args ...string) *Process {
	r.Helper()
	return r.StartBare(name, r.EnvironmentOf(args), args...)
}

// StartBare is Start with nothing but an environment of its own.
func (r *Rig) StartBare(name string, env map[string]string, args ...string) *Process {
	r.Helper()
	p := &Process{name: name, done: make(chan struct{}), Cmd: exec.Command(Program(r.T), args...)}
	p.Dir = r.TempDir()
	p.Env = []string{"HOME=" + p.Dir, "PRESCIENT_WORKER_NAME=" + name}
	for variable, value := range env {
		p.Env = append(p.Env, variable+"="+value)
	}
	p.Stdout, p.Stderr = &p.Out, &p.Err
	r.Must(p.Start())
	go func() {
		defer close(p.done)
		_ = p.Wait()
	}()
	r.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.done
		if r.Failed() {
			log := strings.Split(p.Err.String(), "\n")
			r.Logf("%s: %q, the end of its log:\n%s", name, args, strings.Join(log[max(len(log)-12, 0):], "\n"))
		}
	})
	return p
}

// Ends waits for the end of a process and wants its exit code, -1 for a signal.
func (p *Process) Ends(t *testing.T, code int) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s still runs after 30 s", p.name)
	}
	if got := p.ProcessState.ExitCode(); got != code {
		t.Errorf("%s: exit code %d; want %d", p.name, got, code)
	}
}

// Says waits for a text in the log of a process.
func (p *Process) Says(t *testing.T, text string) {
	t.Helper()
	Eventually(t, p.name+" says "+text, func() bool {
		if strings.Contains(p.Err.String(), text) {
			return true
		}
		select {
		case <-p.done:
			if !strings.Contains(p.Err.String(), text) {
				t.Fatalf("%s ended, and never said %s", p.name, text)
			}
		default:
		}
		return false
	})
}

// Await waits until a channel is closed.
func (r *Rig) Await(c <-chan struct{}) {
	r.Helper()
	select {
	case <-c:
	case <-time.After(30 * time.Second):
		r.Fatal("waited 30 s for the calls of a worker")
	}
}

// Calls is the app that the workers ask, and what it was asked. Each worker names itself in a header.
type Calls struct {
	mu      sync.Mutex
	each    map[string]int // by entity key
	workers map[string]int
	// Gate is called before a call is answered, with the worker and how many calls there were; it may block.
	Gate func(ctx context.Context, worker string, n int)
}

// Serve lets the processes that are started with the environment it returns work for the app.
func (r *Rig) Serve(c *Calls) (environmentOf func(worker string) map[string]string) {
	c.each, c.workers = make(map[string]int), make(map[string]int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		// Only once the body is read does the server notice that the other side is gone.
		_, _ = io.Copy(io.Discard, request.Body)
		worker := request.Header.Get("X-Worker")
		key, _, _ := strings.Cut(request.Header.Get("Idempotency-Key"), "-")
		c.mu.Lock()
		c.each[key]++
		c.workers[worker]++
		n := c.workers[worker]
		c.mu.Unlock()
		c.Gate(request.Context(), worker, n)
		w.WriteHeader(http.StatusNoContent)
	}))
	r.Cleanup(server.Close)
	return func(worker string) map[string]string {
		return map[string]string{"PRESCIENT_CONFIG": r.Configure(fmt.Sprintf(
			"jobs:\n  http:\n    - exec: check\n      url: %s\n      headers:\n        X-Worker: %s\n", server.URL, worker))}
	}
}

func (c *Calls) Of(worker string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.workers[worker]
}

// Repeated counts the rows that were called for more than once, and wants all to be called for.
func (c *Calls) Repeated(t *testing.T, rows int) (again int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.each) != rows {
		t.Errorf("%d rows were called for; want %d", len(c.each), rows)
	}
	for _, n := range c.each {
		again += n - 1
	}
	return again
}

// Fill makes rows pending, all for one slot that comes soon, and returns the slot.
func (r *Rig) Fill(rows int, soon time.Duration) time.Time {
	r.Helper()
	client, err := client.New(r.Context(), r.DB, client.Options{})
	r.Must(err)
	var now time.Time
	r.Must(r.DB.QueryRow("SELECT UTC_TIMESTAMP(6)").Scan(&now))
	jobs := make([]prescient.NewJob, rows)
	for i := range jobs {
		jobs[i] = prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: now.Add(soon)}
	}
	// A slot of few rows is divided by a guess, from those in the middle 256th of the keys: one there makes buckets enough.
	for i := rows; prescient.KeyOf(jobs[0].Entity, "check", "")[0] != 0x80; i++ {
		jobs[0].Entity.Key = fmt.Sprint(i)
	}
	inserted, err := client.InsertMany(r.Context(), r.DB, jobs)
	r.Must(err)
	return inserted[0].Slot
}

// Starter migrates, and returns what starts processes that serve the same slots, one second apart, in small batches.
func (r *Rig) Starter(c *Calls) (start func(name string) *Process) {
	r.Helper()
	r.Variables["PRESCIENT_SLOTS_RESOLUTION"] = "1s"
	r.OK("migrate")
	environment := r.Serve(c)
	return func(name string) *Process {
		for variable, value := range environment(name) {
			r.Variables[variable] = value
		}
		return r.Start(name, "work", "--worker-batch", "10", "--worker-concurrency", "8", "--guards-concurrency", "8",
			"--worker-lease", "2s", "--sweep-every", "1s", "--sweep-grace", "1ms")
	}
}

// Workers starts such processes, and waits until they work.
func (r *Rig) Workers(c *Calls, names ...string) []*Process {
	r.Helper()
	start := r.Starter(c)
	var list []*Process
	for _, name := range names {
		list = append(list, start(name))
	}
	for _, p := range list {
		p.Works(r.T)
	}
	return list
}

// Works waits until a worker works.
func (p *Process) Works(t *testing.T) { p.Says(t, `"message":"working"`) }

// Configure writes a configuration file.
func (r *Rig) Configure(text string) (path string) {
	r.Helper()
	path = filepath.Join(r.TempDir(), "prescient.yaml")
	r.Must(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Address waits for the worker to say where it serves metrics.
func (p *Process) Address(t *testing.T) string {
	t.Helper()
	p.Says(t, `"message":"serving /metrics and /healthz"`)
	for line := range strings.Lines(p.Err.String()) {
		var said struct{ Address string }
		if err := json.Unmarshal([]byte(line), &said); err == nil && said.Address != "" {
			return said.Address
		}
	}
	t.Fatalf("no address in %s", p.Err.String())
	return ""
}

func Get(t *testing.T, url string) (status int, text string) {
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
