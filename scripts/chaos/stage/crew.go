package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/wire"
	"prescient/scripts/chaos/worker"
)

// crew are the workers of a stage.
type crew struct {
	program string // that is run
	dir     string // for logs
	socket  string // for reports
	seed    uint64
	env     func(place int) ([]string, error)
	dsn     func(place int) string
	wire    func(place, life int) []wire.Rule
	command func(place int) []string
	journal *checker.Journal
	log     func(format string, args ...any)
	places  []*Place
}

// A Place is where a worker works; when it dies another one comes.
type Place struct {
	crew   *crew
	number int
	cancel context.CancelFunc
	gone   chan struct{}

	mu      sync.Mutex
	life    int // how many were here before
	name    string
	process *os.Process
}

// hire starts the workers.
func (c *crew) hire(ctx context.Context, workers int) {
	for number := range workers {
		ctx, cancel := context.WithCancel(ctx)
		p := &Place{crew: c, number: number, cancel: cancel, gone: make(chan struct{})}
		c.places = append(c.places, p)
		go p.keep(ctx)
	}
}

// dismiss stops the workers, gracefully, and waits for them.
func (c *crew) dismiss() {
	for _, p := range c.places {
		p.cancel()
	}
	for _, p := range c.places {
		<-p.gone
	}
	c.places = nil
}

// keep keeps a worker at work until ctx ends.
func (p *Place) keep(ctx context.Context) {
	defer close(p.gone)
	// The signal that a child gets at its parent's death comes at the death of the thread that made it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for life := 0; ctx.Err() == nil; life++ {
		if err := p.work(ctx, life); err != nil && ctx.Err() == nil {
			p.crew.log("worker %s: %v", p.name, err)
		}
		Pause(ctx, 200*time.Millisecond)
	}
}

// paces are those of the workers, in turns.
var paces = []string{"needed", "full"}

// work runs one worker to its end.
func (p *Place) work(ctx context.Context, life int) error {
	c := p.crew
	name := fmt.Sprintf("w%d.%d", p.number, life)
	log, err := os.OpenFile(filepath.Join(c.dir, fmt.Sprintf("worker%d.log", p.number)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	plan, err := json.Marshal(c.wire(p.number, life))
	if err != nil {
		return err
	}
	more, err := c.env(p.number)
	if err != nil {
		return err
	}
	arguments := []string{"work"}
	if c.command != nil {
		arguments = c.command(p.number)
	}
	child := exec.CommandContext(ctx, c.program, arguments...)
	child.Env = append(os.Environ(),
		worker.NameVariable+"="+name, worker.SocketVariable+"="+c.socket, worker.RulesVariable+"="+string(plan),
		worker.SeedVariable+"="+strconv.FormatUint(c.seed+uint64(1000*p.number+life), 10),
		"PRESCIENT_DSN="+c.dsn(p.number), "PRESCIENT_TABLE_PREFIX="+Prefix, "PRESCIENT_SLOTS_RESOLUTION="+resolution.String(),
		"PRESCIENT_WORKER_NAME="+name, "PRESCIENT_WORKER_LEASE="+Lease.String(), "PRESCIENT_WORKER_BATCH="+strconv.Itoa(batch),
		"PRESCIENT_WORKER_PACE="+paces[p.number%len(paces)], "PRESCIENT_WORKER_STOP_GRACE="+StopGrace.String(), "PRESCIENT_WORKER_CONCURRENCY=16", "PRESCIENT_WORKER_PATIENCE=20s",
		"PRESCIENT_SWEEP_EVERY="+sweepEvery.String(), "PRESCIENT_SWEEP_GRACE=1s",
		"PRESCIENT_GUARDS_MAX_CHECKS="+strconv.Itoa(maxChecks), "PRESCIENT_GUARDS_MAX_ERRORS="+strconv.Itoa(maxErrors),
		"PRESCIENT_LOG_FORMAT=json")
	if worker.InPool(p.number) {
		child.Env = append(child.Env, "PRESCIENT_WORKER_POOLS="+worker.Pool+"=100")
	}
	child.Env = append(child.Env, more...)
	child.Stdout, child.Stderr = log, log
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	child.Cancel = func() error {
		_ = child.Process.Signal(syscall.SIGCONT)
		return child.Process.Signal(syscall.SIGTERM)
	}
	child.WaitDelay = 10 * time.Second
	if err := child.Start(); err != nil {
		return err
	}
	p.mu.Lock()
	p.life, p.name, p.process = life, name, child.Process
	p.mu.Unlock()
	err = child.Wait()
	if ctx.Err() == nil {
		noteFault(c.journal, checker.EndedWorker, name, 0)
	}
	return err
}

// who is the worker that is here now.
func (p *Place) who() (name string, process *os.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.name, p.process
}

// Signal breaks the worker that is here now.
func (p *Place) Signal(what string, signal syscall.Signal, lasts time.Duration) {
	name, process := p.who()
	if process == nil {
		return
	}
	noteFault(p.crew.journal, what, name, lasts)
	_ = process.Signal(signal) // it may have ended by itself
}

// Freeze stops the worker that is here now for a while.
func (p *Place) Freeze(ctx context.Context, d time.Duration) {
	_, process := p.who()
	p.Signal("SIGSTOP, SIGCONT", syscall.SIGSTOP, d+Lease)
	Pause(ctx, d)
	if process != nil {
		_ = process.Signal(syscall.SIGCONT) // it may have ended by itself
	}
}
