package cmd_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/prescient"
)

// binary is the real program, built once for all tests that want it.
var binary struct {
	once      sync.Once
	dir, path string
	err       error
}

// program returns the path of the real program.
func program(t *testing.T) string {
	t.Helper()
	binary.once.Do(func() {
		if binary.dir, binary.err = os.MkdirTemp("", "prescient-cmd-"); binary.err != nil {
			return
		}
		binary.path = filepath.Join(binary.dir, "prescient")
		out, err := exec.Command("go", "build", "-o", binary.path, "./prescient").CombinedOutput()
		if err != nil {
			binary.err = fmt.Errorf("building the program: %w\n%s", err, out)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return binary.path
}

// process is the real program at work.
type process struct {
	*exec.Cmd
	name     string
	out, err buffer
	done     chan struct{}
}

// start starts the real program as a worker of a name.
func (r *rig) start(name string, args ...string) *process {
	r.Helper()
	p := &process{name: name, done: make(chan struct{}), Cmd: exec.Command(program(r.T), args...)}
	p.Dir = r.TempDir()
	p.Env = []string{"HOME=" + p.Dir, "PRESCIENT_WORKER_NAME=" + name}
	for variable, value := range r.env {
		p.Env = append(p.Env, variable+"="+value)
	}
	p.Stdout, p.Stderr = &p.out, &p.err
	r.must(p.Start())
	go func() {
		defer close(p.done)
		_ = p.Wait()
	}()
	r.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.done
		if r.Failed() {
			log := strings.Split(p.err.String(), "\n")
			r.Logf("%s: %q, the end of its log:\n%s", name, args, strings.Join(log[max(len(log)-12, 0):], "\n"))
		}
	})
	return p
}

// ends waits for the end of a process and wants its exit code, -1 for a signal.
func (p *process) ends(t *testing.T, code int) {
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

// says waits for a text in the log of a process.
func (p *process) says(t *testing.T, text string) {
	t.Helper()
	eventually(t, p.name+" says "+text, func() bool {
		if strings.Contains(p.err.String(), text) {
			return true
		}
		select {
		case <-p.done:
			if !strings.Contains(p.err.String(), text) {
				t.Fatalf("%s ended, and never said %s", p.name, text)
			}
		default:
		}
		return false
	})
}

// calls is the app that the workers ask, and what it was asked. Each worker names itself in a header.
type calls struct {
	mu      sync.Mutex
	each    map[string]int // by entity key
	workers map[string]int
	// gate is called before a call is answered, with the worker and how many calls there were; it may block.
	gate func(ctx context.Context, worker string, n int)
}

// serve lets the processes that are started with the environment it returns work for the app.
func (r *rig) serve(c *calls) (environmentOf func(worker string) map[string]string) {
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
		c.gate(request.Context(), worker, n)
		w.WriteHeader(http.StatusNoContent)
	}))
	r.Cleanup(server.Close)
	return func(worker string) map[string]string {
		return map[string]string{"PRESCIENT_CONFIG": r.configure(fmt.Sprintf(
			"jobs:\n  http:\n    - exec: check\n      url: %s\n      headers:\n        X-Worker: %s\n", server.URL, worker))}
	}
}

func (c *calls) of(worker string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.workers[worker]
}

// repeated counts the rows that were called for more than once, and wants all to be called for.
func (c *calls) repeated(t *testing.T, rows int) (again int) {
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

// fill makes rows pending, all for one slot that comes soon, and returns the slot.
func (r *rig) fill(rows int, soon time.Duration) time.Time {
	r.Helper()
	client, err := prescient.NewClient(r.Context(), r.db, prescient.ClientOptions{})
	r.must(err)
	var now time.Time
	r.must(r.db.QueryRow("SELECT UTC_TIMESTAMP(6)").Scan(&now))
	jobs := make([]prescient.NewJob, rows)
	for i := range jobs {
		jobs[i] = prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: now.Add(soon)}
	}
	inserted, err := client.InsertMany(r.Context(), r.db, jobs)
	r.must(err)
	return inserted[0].Slot
}

// workers starts processes that serve the same slots, one second apart, in small batches.
func (r *rig) workers(c *calls, names ...string) []*process {
	r.Helper()
	r.env["PRESCIENT_SLOTS_RESOLUTION"] = "1s"
	r.ok("migrate")
	environment := r.serve(c)
	var list []*process
	for _, name := range names {
		for variable, value := range environment(name) {
			r.env[variable] = value
		}
		list = append(list, r.start(name, "work", "--worker-batch", "10", "--worker-concurrency", "8", "--guards-concurrency", "8",
			"--worker-lease", "2s", "--sweep-every", "1s", "--sweep-grace", "1ms"))
	}
	for _, p := range list {
		p.says(r.T, `"message":"working"`)
	}
	return list
}

func TestTwoProcessesOnDifferentMinutesServeEverySlotOnce(t *testing.T) {
	eachServer(t, func(r *rig) {
		c := &calls{gate: func(context.Context, string, int) {}}
		environment := r.serve(c)
		assigned := map[string]string{"even": "0,30", "odd": "15,45"}
		config := make(map[string]string)
		for name := range assigned {
			config[name] = environment(name)["PRESCIENT_CONFIG"]
		}
		r.at("12:50")
		r.ok("migrate")
		want := map[string]string{"13:00": "even", "13:15": "odd", "13:30": "even", "13:45": "odd"}
		for slot := range want {
			r.ok("insert", "--entity", "order/"+slot, "--exec", "check", "--at", "2026-11-20 "+slot)
		}
		for _, slot := range []string{"13:00", "13:15", "13:30", "13:45"} {
			r.at(slot + ":01")
			for name, minutes := range assigned {
				r.env["PRESCIENT_CONFIG"] = config[name]
				p := r.start(name, "run", "--worker-minutes", minutes)
				p.ends(r.T, cmd.ExitOK)
				if unassigned := strings.Contains(p.err.String(), "not assigned to this worker"); unassigned == (name == want[slot]) {
					r.Errorf("slot %s, %s: %s", slot, name, p.err.String())
				}
			}
		}
		ends := r.history()
		for _, end := range ends {
			if end.Worker != want[end.EntityKey] || end.Slot.Format("15:04") != end.EntityKey || end.Outcome != prescient.Done {
				r.Errorf("%+v", end)
			}
		}
		if again := c.repeated(r.T, 4); again != 0 || len(ends) != 4 {
			r.Errorf("%d ends, %d calls too many", len(ends), again)
		}
	})
}

func TestTwoProcessesOnTheSameMinutesShareTheRows(t *testing.T) {
	eachServer(t, func(r *rig) {
		const rows = 400
		// Nobody gets an answer before both have asked.
		both := make(chan struct{})
		var once sync.Once
		c := &calls{}
		c.gate = func(ctx context.Context, _ string, _ int) {
			if c.of("a") > 0 && c.of("b") > 0 {
				once.Do(func() { close(both) })
			}
			select {
			case <-both:
			case <-ctx.Done():
			}
		}
		processes := r.workers(c, "a", "b")
		r.fill(rows, 2*time.Second)
		eventually(r.T, "all rows have ended", func() bool { return r.count("SELECT COUNT(*) FROM job_history") == rows })
		for _, p := range processes {
			r.must(p.Process.Signal(syscall.SIGTERM))
			p.ends(r.T, cmd.ExitOK)
		}
		if again := c.repeated(r.T, rows); again != 0 {
			r.Errorf("%d calls too many", again)
		}
		if n := r.count("SELECT COUNT(DISTINCT worker) FROM job_history WHERE outcome = 'done'"); n != 2 {
			r.Errorf("%d workers had rows; want 2", n)
		}
		if n := r.count("SELECT COUNT(*) FROM future_job"); n != 0 {
			r.Errorf("%d rows are pending", n)
		}
	})
}

func TestBucketsOfAKilledProcessAreTakenOver(t *testing.T) {
	eachServer(t, func(r *rig) {
		const rows, inFlight = 200, 8
		// a gets answers for a while and then none; b waits until a has asked.
		asked := make(chan struct{})
		var once sync.Once
		c := &calls{gate: func(ctx context.Context, worker string, n int) {
			if worker == "a" && n <= 25 {
				return
			}
			if worker == "a" {
				once.Do(func() { close(asked) })
				<-ctx.Done()
				return
			}
			select {
			case <-asked:
			case <-ctx.Done():
			}
		}}
		processes := r.workers(c, "a", "b")
		r.fill(rows, 2*time.Second)
		<-asked
		r.must(processes[0].Process.Kill())
		processes[0].ends(r.T, -1)
		eventually(r.T, "all rows have ended", func() bool { return r.count("SELECT COUNT(*) FROM job_history") == rows })
		r.must(processes[1].Process.Signal(syscall.SIGTERM))
		processes[1].ends(r.T, cmd.ExitOK)
		// What was in flight, and what was answered and not committed yet: at most a batch in each of two buckets.
		if again := c.repeated(r.T, rows); again == 0 || again > 2*10 {
			r.Errorf("%d calls too many; want 1 to 20", again)
		}
		if n := r.count("SELECT COALESCE(SUM(takeovers), 0) FROM slot_run"); n == 0 {
			r.Error("the ledger has no takeover")
		}
		if n := r.count("SELECT COUNT(*) FROM job_history WHERE outcome <> 'done'") + r.count("SELECT COUNT(*) FROM future_job"); n != 0 {
			r.Errorf("%d rows are not done", n)
		}
	})
}

func TestSIGTERMInMidSlotEndsGracefully(t *testing.T) {
	eachServer(t, func(r *rig) {
		const rows, before = 200, 50
		blocked, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		c := &calls{gate: func(ctx context.Context, _ string, n int) {
			if n <= before {
				return
			}
			once.Do(func() { close(blocked) })
			select {
			case <-release:
			case <-ctx.Done():
			}
		}}
		p := r.workers(c, "a")[0]
		r.fill(rows, 2*time.Second)
		<-blocked
		r.must(p.Process.Signal(syscall.SIGTERM))
		p.says(r.T, `"message":"stopping`)
		close(release)
		p.ends(r.T, cmd.ExitOK)
		p.says(r.T, `"message":"stopped"`)

		called := c.of("a")
		if c.repeated(r.T, called) != 0 || called > before+2*8 {
			r.Errorf("%d calls; want no more than were under way", called)
		}
		if done := r.count("SELECT COUNT(*) FROM job_history WHERE outcome = 'done'"); done != called {
			r.Errorf("%d ends for %d answers", done, called)
		}
		if pending := r.count("SELECT COUNT(*) FROM future_job"); pending != rows-called {
			r.Errorf("%d pending; want %d", pending, rows-called)
		}
		if n := r.count("SELECT COUNT(*) FROM slot_run WHERE allocated_until IS NOT NULL"); n != 0 {
			r.Errorf("%d leases are still held", n)
		}
	})
}

func TestSecondSignalEndsTheProcessAtOnce(t *testing.T) {
	eachServer(t, func(r *rig) {
		blocked := make(chan struct{})
		var once sync.Once
		c := &calls{gate: func(ctx context.Context, _ string, _ int) {
			once.Do(func() { close(blocked) })
			<-ctx.Done()
		}}
		p := r.workers(c, "a")[0]
		r.fill(1, time.Second)
		<-blocked
		r.must(p.Process.Signal(syscall.SIGTERM))
		p.says(r.T, `"message":"stopping`)
		r.must(p.Process.Signal(syscall.SIGINT))
		p.ends(r.T, 128+int(syscall.SIGINT))
		p.says(r.T, "prescient: interrupt again: ending at once\n")
	})
}

func TestTheLogIsSilentBetweenSlots(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.ok("migrate", "--slots-resolution", "1d")
		p := r.start("a", "work", "--slots-resolution", "1d", "--sweep-every", "1s")
		p.says(r.T, `"message":"slot run"`)
		said := p.err.String()
		// Two sweeps that find nothing.
		time.Sleep(2500 * time.Millisecond)
		if now := p.err.String(); now != said {
			r.Errorf("said between slots: %s", strings.TrimPrefix(now, said))
		}
		r.must(p.Process.Signal(os.Interrupt))
		p.ends(r.T, cmd.ExitOK)
		if lines := bytes.Count([]byte(p.err.String()), []byte("\n")); lines != 5 {
			r.Errorf("%d lines; want a warning, working, the slot run, stopping, stopped: %s", lines, p.err.String())
		}
	})
}
