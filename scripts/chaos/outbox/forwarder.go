package outbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"prescient/cmd"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/kafka"
	"prescient/prescient/event/broker/nats"
	"prescient/prescient/event/broker/rabbitmq"
	"prescient/prescient/event/broker/redis"
	"prescient/prescient/event/broker/webhook"
)

// asForwarder is set in the environment of a process that is the command.
const asForwarder = "PRESCIENT_CHAOS_FORWARDER"

// IsForwarder says whether this process was started as the command.
func IsForwarder() bool { return os.Getenv(asForwarder) != "" }

// Main is the command, with the brokers that are broken here.
func Main() {
	environ := func() []string { return nil }
	cmd.Main(cmd.Options{Environ: environ, Env: os.LookupEnv,
		Brokers: map[string]broker.Open{"http": webhook.Open, "nats": nats.Open, "kafka": kafka.Open, "redis": redis.Open, "amqp": rabbitmq.Open}})
}

// process is a forwarder or a worker that is killed and frozen.
type process struct {
	name    string
	command []string
	env     []string
	log     string // file

	mu    sync.Mutex
	cmd   *exec.Cmd
	began time.Time
}

// start starts it, anew where it was killed.
func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p.cmd = exec.Command(program, p.command...)
	p.cmd.Env = append(p.env, asForwarder+"=1", "PRESCIENT_WORKER_NAME="+p.name, "HOME="+filepath.Dir(p.log), "PATH="+os.Getenv("PATH"))
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", p.name, err)
	}
	return nil
}

// kill kills it at once, and starts it anew.
func (p *process) kill() error {
	p.signal(syscall.SIGKILL)
	_ = p.cmd.Wait() // it was killed
	return p.start()
}

// freeze stops it for a time.
func (p *process) freeze(d time.Duration) {
	p.signal(syscall.SIGSTOP)
	time.Sleep(d)
	p.signal(syscall.SIGCONT)
}

// end ends it in order.
func (p *process) end() error {
	p.signal(syscall.SIGTERM)
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case err := <-done:
		if p.cmd.ProcessState.ExitCode() == cmd.ExitDatabase { // it was just beginning when its connections were cut, or the server was killed
			if err := p.start(); err != nil {
				return err
			}
			return p.end()
		}
		if how, is := p.cmd.ProcessState.Sys().(syscall.WaitStatus); is && how.Signal() == syscall.SIGTERM && time.Since(p.began) < 5*time.Second {
			return nil // it had not come to where it takes signals, and has nothing in hand
		}
		return err
	case <-time.After(30 * time.Second):
		p.signal(syscall.SIGKILL)
		return fmt.Errorf("%s did not end in 30 s", p.name)
	}
}

func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Signal(s) // one that has ended needs none
}
