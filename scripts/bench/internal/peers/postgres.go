package peers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Postgres is a Postgres of this run's own, with durable settings.
type Postgres struct {
	process *exec.Cmd
	dir     string
	exited  chan error
	Pool    *pgxpool.Pool
	Version string
}

// StartPostgres makes a data folder and starts a server on it.
func StartPostgres(ctx context.Context, pool string, args ...string) (_ *Postgres, err error) {
	output, err := exec.CommandContext(ctx, "./postgres").Output()
	if err != nil {
		return nil, fmt.Errorf("getting a Postgres server: %w", err)
	}
	programs := strings.TrimSpace(string(output))
	p := &Postgres{exited: make(chan error, 1)}
	if p.dir, err = os.MkdirTemp("", "prescient-bench-postgres-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Stop())
		}
	}()
	attributes, err := p.unprivileged(&programs)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(p.dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(programs, "initdb"), "--pgdata", data, "--username", "bench", "--auth", "trust",
		"--encoding", "UTF8", "--no-locale", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = p.dir, attributes
	if output, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, output)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	settings := append([]string{"listen_addresses=127.0.0.1", "port=" + port, "unix_socket_directories=", "max_connections=200", "jit=off",
		"shared_buffers=" + pool + "B", "max_wal_size=4GB", "fsync=on", "synchronous_commit=on", "logging_collector=off"}, args...)
	command := []string{"-D", data}
	for _, setting := range settings {
		command = append(command, "-c", setting)
	}
	log, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.process = exec.Command(filepath.Join(programs, "postgres"), command...)
	p.process.Dir, p.process.Stdout, p.process.Stderr, p.process.SysProcAttr = p.dir, log, log, attributes
	if err := startDying(p.process, p.exited); err != nil {
		p.process = nil
		return nil, err
	}
	config, err := pgxpool.ParseConfig("postgres://bench@127.0.0.1:" + port + "/postgres?sslmode=disable&pool_max_conns=40")
	if err != nil {
		return nil, err
	}
	if p.Pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	for range 200 {
		if err = p.Pool.QueryRow(ctx, "SHOW server_version").Scan(&p.Version); err == nil {
			return p, nil
		}
		select {
		case err := <-p.exited:
			p.exited <- err
			text, _ := os.ReadFile(log.Name())
			return nil, fmt.Errorf("postgres ended: %w\n%s", err, text)
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil, fmt.Errorf("postgres does not answer: %w", err)
}

// unprivileged makes the folder that of a user who is not root, where this process is root: Postgres refuses to run as
// root. Programs that such a user cannot get at are copied.
func (p *Postgres) unprivileged(programs *string) (*syscall.SysProcAttr, error) {
	attributes := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if os.Geteuid() != 0 {
		return attributes, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	try := exec.Command(filepath.Join(*programs, "postgres"), "--version")
	try.Dir, try.SysProcAttr = "/", attributes
	if try.Run() != nil {
		root, below, found := strings.Cut(*programs, "/usr/lib/postgresql/")
		if !found || root == "" {
			return nil, fmt.Errorf("%s cannot be run by the user nobody", *programs)
		}
		copied := filepath.Join(p.dir, "root")
		if output, err := exec.Command("cp", "-a", root, copied).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("copying %s: %w %s", root, err, output)
		}
		*programs = filepath.Join(copied, "usr/lib/postgresql", below)
	}
	return attributes, os.Chown(p.dir, uid, gid)
}

// Pid is that of the server.
func (p *Postgres) Pid() int { return p.process.Process.Pid }

// Stop ends the server and removes its folder.
func (p *Postgres) Stop() error {
	if p.Pool != nil {
		p.Pool.Close()
	}
	if p.process != nil {
		end(p.process, p.exited, syscall.SIGINT) // ends the connections, too
	}
	return os.RemoveAll(p.dir)
}

// startDying starts a process that dies with this one; exited tells of its end.
func startDying(process *exec.Cmd, exited chan<- error) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the signal comes at the death of the thread
		defer runtime.UnlockOSThread()
		err := process.Start()
		started <- err
		if err == nil {
			exited <- process.Wait()
		}
	}()
	return <-started
}

// end stops a process by a signal, and kills it where that does not help.
func end(process *exec.Cmd, exited <-chan error, signal syscall.Signal) {
	_ = process.Process.Signal(signal)
	select {
	case <-exited:
	case <-time.After(20 * time.Second):
		_ = process.Process.Kill()
		<-exited
	}
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}
