package operate

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/agent"
	text "prescient/sql"
)

func drainCommand(prog *program.Program) *cobra.Command {
	return program.Reasoned(&cobra.Command{
		Use:   "drain NAME",
		Short: "Have an agent take nothing new, and hand its long runs on",
		Long: fmt.Sprintf(`Has the live agents of a name take nothing new: no slots, no buckets, no long runs, no events. They hear of it with their next heartbeat,
within %s. What they have under way has worker.stop_grace to end, as when they are stopped, and long runs are handed on. They stay up, and
are listed as draining, until undrain; one that is started anew works. Timers and forward are not told: stop these. It prints how many agents
there were.`, agent.Every+agent.Every/10),
		Example: fmt.Sprintf("  %[1]s agents drain host-7 --reason 'a new kernel'\n  %[1]s agents", prog.Name),
		Args:    arguments.One("the name of an agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return control(cmd, prog, args[0], drained, agent.Controls.Drain)
		},
	})
}

func undrainCommand(prog *program.Program) *cobra.Command {
	return program.Reasoned(&cobra.Command{
		Use:     "undrain NAME",
		Short:   "Let an agent that drains work again",
		Long:    "Lets the agents of a name work again, from their next heartbeat on. It prints how many were to drain.",
		Example: fmt.Sprintf("  %s agents undrain host-7", prog.Name),
		Args:    arguments.One("the name of an agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return control(cmd, prog, args[0], "undrained", agent.Controls.Undrain)
		},
	})
}

// drained is what drain says it did.
const drained = "drained"

// control has agents of a name do something.
func control(cmd *cobra.Command, prog *program.Program, name, done string, do func(c agent.Controls, ctx context.Context, db prescient.DB, name string) (int, error)) error {
	return prog.Connect(cmd, func(s *program.Session) error {
		c, err := agent.OpenControls(cmd.Context(), s.DB, s.Config.TablePrefix, text.Dialect(s.Config.Dialect))
		if err != nil {
			return s.Explain(err)
		}
		n := 0
		err = s.InTx(cmd.Context(), func(tx *sql.Tx) (err error) {
			n, err = do(c, cmd.Context(), tx, name)
			return err
		})
		if err != nil {
			return s.Explain(err)
		}
		err = output.Answer(cmd.OutOrStdout(), prog.JSON, map[string]int{done: n}, "%s %d", done, n)
		if err != nil || done != drained {
			return err
		}
		all, err := agent.List(cmd.Context(), s.DB, s.Config.TablePrefix, text.Dialect(s.Config.Dialect))
		if err == nil && agent.Working(all, name) == 0 {
			err = output.Say(cmd.ErrOrStderr(), "nobody else is known to run slots: none are run, and no events go out, until undrain or until another is started")
		}
		return s.Explain(err)
	})
}
