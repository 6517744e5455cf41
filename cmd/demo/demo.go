package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/config"
)

// Command returns the command demo.
func Command(prog *program.Program) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch it work for half a minute: nothing to set up",
		Long: `Starts a private MariaDB or MySQL in a temporary folder, makes the tables, and lets orders arrive and be shipped
at random for half a minute. Slots are one second apart. An order that is not shipped in time is alerted about, and
escalated later; you see it happen, and at the end the books: every check that was inserted has ended or is pending.

With --dsn it does the same in a database of yours, in tables with a prefix of their own, which it drops at the end.
No configuration file and no PRESCIENT_… variable is read.`,
		Example: fmt.Sprintf(`  %[1]s demo
  %[1]s demo --orders 20000 --for 1m
  %[1]s demo --steps
  %[1]s demo --rules
  %[1]s demo --advised
  %[1]s demo --page
  %[1]s demo --vitess
  %[1]s demo --dsn 'user:password@tcp(127.0.0.1:3306)/test' --keep`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				f.seed = rand.Uint64N(1_000_000)
			}
			if f.page && !cmd.Flags().Changed("for") {
				f.lastsFor = pageLasts
			}
			if f.page && !cmd.Flags().Changed("orders") {
				f.orders = int(f.lastsFor / time.Second)
			}
			return playDemo(cmd, prog, f)
		},
	}
	flags := cmd.Flags()
	arguments.Within(flags, &f.lastsFor, "for", "30s", 2*time.Second, time.Hour, "how long: 2s to 1h")
	arguments.Number(flags, &f.orders, "orders", 40, 1, 200_000, "how many orders arrive in that time, 200000 at most")
	arguments.Within(flags, &f.alertAfter, "alert-after", "4s", time.Second, time.Hour, "alert about an order that is not shipped that long after it was placed")
	arguments.Within(flags, &f.escalateAfter, "escalate-after", "8s", time.Second, time.Hour, "escalate it when it is still not shipped then")
	flags.Uint64Var(&f.seed, "seed", 0, "repeat the arrivals of an earlier demo (default another one each time)")
	flags.BoolVar(&f.steps, "steps", false, "show a job of three steps instead: one fails and is tried again, and the job is edited while it runs")
	flags.BoolVar(&f.rules, "rules", false, "show checks that are a condition in the configuration instead: two alerts about an order, without Go")
	flags.BoolVar(&f.advised, "advised", false, "show advised times beside hourly checks instead: calls and lateness of both, without a server")
	flags.BoolVar(&f.page, "page", false, "look at it by a browser of this machine: for 10m, and with an order a second, unless --for and --orders say otherwise")
	flags.BoolVar(&f.vitess, "vitess", false, "show the orders on two shards of a private Vitess, which scripts/vitess builds")
	flags.BoolVar(&f.keep, "keep", false, "with --dsn: leave the tables there")
	return cmd
}

func playDemo(cmd *cobra.Command, prog *program.Program, f demoFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	// Passwords are allowed in a flag, since it is a database to play in. Of the configuration only flags count: nobody wants a demonstration in a database that a variable happens to name.
	c, err := config.Load(config.Options{SearchPaths: []string{}, Flags: cmd.Flags(), Env: noEnvironment, PasswordInFlag: true})
	if err != nil {
		return err
	}
	if f.keep && c.DSN.IsZero() {
		return exit.Usage(errors.New("--keep: a private server goes with its data; give --dsn, or leave --keep out"))
	}
	switch {
	case f.scenes() > 1:
		return exit.Usage(errors.New("--steps, --rules, --advised, --page, --vitess: one of them is allowed"))
	case f.vitess && !c.DSN.IsZero():
		return exit.Usage(errors.New("--vitess starts a cluster of its own: leave --dsn out"))
	case f.vitess:
		return playShards(cmd, prog, c, f)
	case f.advised && !c.DSN.IsZero():
		return exit.Usage(errors.New("--advised asks no database: leave --dsn out"))
	case f.advised:
		return playAdvised(output.To(cmd.OutOrStdout()), prog.JSON, f.seed)
	case f.steps:
		return playSteps(cmd, prog, c, f.keep)
	case f.rules:
		return playRules(cmd, prog, c, f.keep)
	}
	ctx := cmd.Context()
	t := newTeller(prog, cmd.OutOrStdout(), f)
	stage, err := buildStage(ctx, prog, c, f, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.tearDown(f.keep)) }()

	if f.page {
		address, stop, err := stage.servePage(ctx, prog, prog.Logger(c.Log))
		if err != nil {
			return stage.explain(err)
		}
		defer stop()
		t.begin(stage.server, f, address)
		openInBrowser(prog, cmd.OutOrStdout(), address)
	} else {
		t.begin(stage.server, f, "")
	}
	if err := stage.play(ctx, f, t); err != nil {
		return stage.explain(err)
	}
	books, err := stage.audit(context.WithoutCancel(ctx), f, t)
	if err != nil {
		return stage.explain(err)
	}
	if err := t.end(books); err != nil {
		return err
	}
	if !books.Balanced {
		return errors.New("the books do not balance: " + books.Problem)
	}
	return nil
}

func noEnvironment(string) (string, bool) { return "", false }
