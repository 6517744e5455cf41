package cmd

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/config"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/longrun"
	"prescient/prescient/longrun/wakeup"
	"prescient/prescient/notify"
	"prescient/prescient/ops/door"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// Options are for Main, Run and New; the zero value is the shipped program.
type Options struct {
	// Program is what the program is called in its help and errors; prescient by default.
	Program string
	// Version is what the command version says first; by default that of the main module.
	Version string
	// Register adds the program's own job_execs to the registry, beside those of the configuration. It is called by the
	// commands that run job_execs (run, work, sweep, and dev, there again as the configuration changes), by those that must know
	// their horizons (insert, reschedule, requeue), and by pause, once that is done, which warns about names that are not known.
	Register func(ctx context.Context, registry *prescient.Registry, deps Deps) error

	// Brokers are those that events can go to, by the schemes of their URLs: {"nats": nats.Open}, each from its package under
	// prescient/event/broker. A program compiles only those that it names here; without one, events stay in the outbox.
	Brokers map[string]broker.Open
	// Formats are what events can be made into, beside plain, by the names that routes use: {"cloudevents": cloudevents.Structured}.
	// Each gets events.source.
	Formats map[string]func(source string) (broker.Format, error)
	// WakeUps have agents know at once which long runs others offer, claim and hand on, over a broker that events go to:
	// {"nats": nats.OpenWakeUp}. Without one they know it within half a second.
	WakeUps map[string]func(url, subject string, log zerolog.Logger) (w wakeup.WakeUp, stop func(), err error)

	// Mail tells receivers of findings by e-mail: mail.Open of package prescient/notify/mail. Without it notify.receivers has no mail.
	Mail func(url, password, from string, to []string) (notify.Sender, error)

	// Serve makes what the command serve serves: api.New of package prescient/api. Without it there is no such command, and a program compiles
	// nothing of it.
	Serve func(door.Serving) http.Handler
	// Page makes the page that serve serves beside that: login.Serve of package prescient/page/login. Without it there is none.
	Page func(ctx context.Context, s door.Serving) (http.Handler, error)

	// Args are the arguments, without the name of the program; those of the process by default.
	Args []string
	// Stdin, Stdout and Stderr are those of the process by default.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Env looks up an environment variable, and Environ lists them as name=value; both are the process's by default.
	// Where only Env is given, misspelt variables go unnoticed.
	Env     func(name string) (string, bool)
	Environ func() []string
	// ConfigPaths are where a configuration file is looked for when none is named; those of config.Options by default,
	// none where the list is empty but not nil.
	ConfigPaths []string
}

// Deps is what a program's own job_execs may be built from.
type Deps struct {
	Config config.Config
	// DB is the worker's pool. It is closed when the command ends.
	DB *sqlx.DB
	// Shard is that of Vitess which DB is targeted at, such as -80, where Register is called for each; empty otherwise. A pool of your own takes it as
	// connect.Options.Shard.
	Shard string
	// Client inserts and cancels further checks.
	Client *client.Client
	// Schedules creates schedules, and makes job_execs for them to run. Their timers are registered.
	Schedules *schedule.Schedules
	// Jobs creates jobs of steps, which are registered: their steps are the job_execs of the registry.
	Jobs *steps.Jobs
	// Events publishes events, in a transaction, or with the answer of a check: deps.Events.Register(registry, name, fn, guards).
	Events *event.Outbox
	// Long registers job_execs whose checks may take longer than their slots: deps.Long.Register(registry, name, fn, guards). It is
	// nil in commands without a worker, such as insert; Register works on that all the same, and nothing else of it is to be called.
	Long *longrun.Runner
	Log  zerolog.Logger
}

// Main runs the command line of the process and ends it with the exit code. The first SIGINT or SIGTERM stops the
// command gracefully, a second one ends the process at once.
func Main(options Options) {
	options = options.complete()
	ctx, stop := untilSignal(context.Background(), options.Program, options.Stderr)
	code := Run(ctx, options)
	stop()
	os.Exit(code)
}

// Run runs one command line until it is done or ctx ends, and returns the exit code. Errors go to stderr, a line each.
func Run(ctx context.Context, options Options) int {
	options = options.complete()
	root := New(options)
	root.SetArgs(options.Args)
	err := root.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil && connect.IsUnreachable(err) {
		// Statements that are broken off may say no more than that the connection is gone.
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	if err != nil && !exit.Printed(err) {
		// There is nobody to tell when stderr fails.
		_, _ = io.WriteString(options.Stderr, words.Complaint(options.Program, err))
	}
	return exit.Code(err)
}

func (o Options) complete() Options {
	if o.Program == "" {
		o.Program = "prescient"
	}
	if o.Args == nil {
		o.Args = os.Args[1:]
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	if o.Env == nil {
		o.Env = os.LookupEnv
		if o.Environ == nil {
			o.Environ = os.Environ
		}
	}
	return o
}

// New returns the root command with all its subcommands, for a program that embeds it: execute it with a context, and
// take the exit code of its error from ExitCode. It prints no errors itself, and reads its arguments as any cobra
// command does.
func New(options Options) *cobra.Command {
	options = options.complete()
	prog := &program.Program{Name: options.Program, Version: versionOf(options.Program, options.Version).Version, Stderr: options.Stderr, Env: options.Env, Environ: options.Environ,
		ConfigPaths: options.ConfigPaths, Brokers: options.Brokers, Formats: options.Formats, Mail: options.Mail, WakeUps: options.WakeUps, Serve: options.Serve, Page: options.Page, Screen: &output.Screen{Writer: options.Stderr}}
	if options.Register != nil {
		prog.Register = func(ctx context.Context, s *program.Session) error {
			return options.Register(ctx, s.Registry, Deps{Config: s.Config, DB: s.DB, Shard: s.Shard, Client: s.Client, Schedules: s.Schedules, Jobs: s.Jobs, Events: s.Schedules.Outbox(), Long: s.Long, Log: s.Log})
		}
	}
	root := &cobra.Command{
		Use:   prog.Name,
		Short: "Checks that are due some time later, run at their slot",
		Long: `prescient keeps checks ("look at order 42 in three hours") in tables of your database, rounds their times up
to slots, and runs what is due when a slot comes.

A configuration file, environment variables (PRESCIENT_…) and flags say which database and how, each stronger than the
one before; "config example" prints a file with every key.

` + exitCodes,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          arguments.None,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(options.Stdin)
	root.SetOut(options.Stdout)
	root.SetErr(options.Stderr)
	root.SetUsageTemplate(usageTemplate)
	root.SetFlagErrorFunc(arguments.FlagError)
	root.PersistentFlags().BoolVar(&prog.JSON, "json", false, "print data as JSON: an object on a line, or a line a row")
	root.PersistentFlags().StringVar(&prog.ConfigFile, "config", "", "configuration file (default prescient.yaml here or in its usual places)")
	config.AddFlags(root.PersistentFlags())
	addCommands(root, prog, options.Version)
	addCompletions(prog, root)
	arguments.RefuseRepeated(root)
	return root
}
