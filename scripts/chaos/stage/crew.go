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

	"prescient/prescient/localserver/wire"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/worker"
)

// place is where a worker works; when it dies another one comes.
type place struct {
	stage  *stage
	number int
	cancel context.CancelFunc
	gone   chan struct{}

	mu      sync.Mutex
	life    int // how many were here before
	name    string
	process *os.Process
}

// hire starts the workers.
func (s *stage) hire(ctx context.Context) {
	s.frozen = lease + time.Second
	for number := range max(s.scenario.Workers, 3) {
		ctx, cancel := context.WithCancel(ctx)
		p := &place{stage: s, number: number, cancel: cancel, gone: make(chan struct{})}
		s.crew = append(s.crew, p)
		go p.keep(ctx)
	}
}

// dismiss stops the workers, gracefully, and waits for them.
func (s *stage) dismiss() {
	for _, p := range s.crew {
		p.cancel()
	}
	for _, p := range s.crew {
		<-p.gone
	}
	s.crew = nil
}

// keep keeps a worker at work until ctx ends.
func (p *place) keep(ctx context.Context) {
	defer close(p.gone)
	// The signal that a child gets at its parent's death comes at the death of the thread that made it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for life := 0; ctx.Err() == nil; life++ {
		if err := p.work(ctx, life); err != nil && ctx.Err() == nil {
			p.stage.log("worker %s: %v", p.name, err)
		}
		pause(ctx, 200*time.Millisecond)
	}
}

// work runs one worker to its end.
func (p *place) work(ctx context.Context, life int) error {
	s := p.stage
	name := fmt.Sprintf("w%d.%d", p.number, life)
	program := s.clockProgram
	if !s.scenario.clock {
		var err error
		if program, err = os.Executable(); err != nil {
			return err
		}
	}
	log, err := os.OpenFile(filepath.Join(s.dir, fmt.Sprintf("worker%d.log", p.number)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	var rules []wire.Rule
	if s.scenario.Wire != nil && !s.over.Load() {
		rules = s.scenario.Wire(s, p.number, life)
	}
	plan, err := json.Marshal(rules)
	if err != nil {
		return err
	}
	child := exec.CommandContext(ctx, program, "work")
	child.Env = append(os.Environ(),
		worker.NameVariable+"="+name, worker.SocketVariable+"="+s.socket, worker.RulesVariable+"="+string(plan),
		worker.SeedVariable+"="+strconv.FormatUint(s.seed+uint64(1000*p.number+life), 10),
		"PRESCIENT_DSN="+s.workerDSN(p.number), "PRESCIENT_TABLE_PREFIX="+prefix, "PRESCIENT_SLOTS_RESOLUTION="+resolution.String(),
		"PRESCIENT_WORKER_NAME="+name, "PRESCIENT_WORKER_LEASE="+lease.String(), "PRESCIENT_WORKER_BATCH="+strconv.Itoa(batch),
		"PRESCIENT_WORKER_STOP_GRACE="+stopGrace.String(), "PRESCIENT_WORKER_CONCURRENCY=16", "PRESCIENT_WORKER_PATIENCE=20s",
		"PRESCIENT_SWEEP_EVERY="+sweepEvery.String(), "PRESCIENT_SWEEP_GRACE=1s",
		"PRESCIENT_GUARDS_MAX_CHECKS="+strconv.Itoa(maxChecks), "PRESCIENT_GUARDS_MAX_ERRORS="+strconv.Itoa(maxErrors),
		"PRESCIENT_LOG_FORMAT=json")
	child.Env = append(child.Env, s.scenario.Env...)
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
		s.fault(checker.EndedWorker, name, 0)
	}
	return err
}

// who is the worker that is here now.
func (p *place) who() (name string, process *os.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.name, p.process
}

// signal breaks the worker that is here now.
func (p *place) signal(what string, signal syscall.Signal, lasts time.Duration) {
	name, process := p.who()
	if process == nil {
		return
	}
	p.stage.fault(what, name, lasts)
	_ = process.Signal(signal) // it may have ended by itself
}
