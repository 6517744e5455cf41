package worker

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/cmd"
	"prescient/prescient"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/wire"
)

// The variables by which a run tells its workers what they are.
const (
	NameVariable   = "CHAOS_WORKER" // its name; that this is set makes a process a worker
	SocketVariable = "CHAOS_SOCKET" // where the checker listens
	RulesVariable  = "CHAOS_RULES"  // of the wire, as JSON
	SeedVariable   = "CHAOS_SEED"
	MemoryVariable = "CHAOS_MEMORY" // how much address space it may have, in bytes
)

// IsWorker says whether this process was started as a worker.
func IsWorker() bool { return os.Getenv(NameVariable) != "" }

// Main is a worker: the command with job_execs of its own. It does not return.
func Main() {
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "chaos worker:", err)
		os.Exit(2)
	}
	checks := newReporter(os.Getenv(SocketVariable), os.Getenv(NameVariable))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var runs *long
	code := cmd.Run(ctx, cmd.Options{
		Args:        os.Args[1:],
		ConfigPaths: []string{},
		Register: func(_ context.Context, registry *prescient.Registry, deps cmd.Deps) (err error) {
			if err := register(registry, checks, deps.Config.TablePrefix); err != nil {
				return err
			}
			if err := registerRun(registry, checks, deps); err != nil {
				return err
			}
			if err := registerJobs(registry, checks, deps); err != nil {
				return err
			}
			if deps.Shard != "" {
				return registerOnShard(registry, checks, deps)
			}
			runs, err = registerLong(ctx, registry, checks, deps)
			return err
		},
	})
	stop() // which ends ctx, where no signal did
	if runs != nil {
		<-runs.gone
	}
	os.Exit(code)
}

// prepare puts the wire in its place.
func prepare() error {
	seed, err := strconv.ParseUint(os.Getenv(SeedVariable), 10, 64)
	if err != nil {
		return fmt.Errorf("%s: %w", SeedVariable, err)
	}
	plan, err := wire.NewPlan(os.Getenv(RulesVariable), seed)
	if err != nil {
		return err
	}
	faults := newReporter(os.Getenv(SocketVariable), os.Getenv(NameVariable))
	plan.Tell = func(what, statement string, lasts time.Duration) {
		faults.note(checker.Event{Kind: checker.Fault, What: what, Key: short(statement), Took: lasts})
	}
	mysql.RegisterDialContext(wire.Network, plan.Dial)
	return limitMemory(os.Getenv(MemoryVariable))
}

// short is the beginning of a statement.
func short(statement string) string { return statement[:min(len(statement), 60)] }
