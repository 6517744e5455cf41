// Package definition has what commands do alike with schedules and with jobs.
package definition

import (
	"context"
	"database/sql"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
)

// Kind is what the commands of one kind of definitions have of their own.
type Kind struct {
	Prog *program.Program
	// Names are those of a command line, or it is refused.
	Names func(cmd *cobra.Command, names []string) ([]string, error)
	// Named is one of them in JSON.
	Named func(name string) Done
	// WasSo stands behind one that was as it is to be.
	WasSo string
	// Of are those of a session.
	Of func(s *program.Session) Definitions
	// EachShard says that each shard of Vitess has its own.
	EachShard bool
}

// Definitions are schedules, or jobs.
type Definitions interface {
	Pause(ctx context.Context, db prescient.DB, name string) (changed bool, err error)
	Resume(ctx context.Context, db prescient.DB, name string) (changed bool, err error)
	RunNow(ctx context.Context, db prescient.DB, name string) (run string, err error)
}

// Done is what was done with one, in JSON: a schedule has an id, all else a name.
type Done struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	Did  string `json:"did,omitempty"`
	Run  string `json:"run,omitempty"`
}

// kept is said of what is so already.
const kept = "kept"

// Each does something with each of some names, in one transaction, and says what: do returns that.
func (k Kind) Each(cmd *cobra.Command, names []string, do func(s *program.Session, tx *sql.Tx, name string) (did string, err error)) error {
	names, err := k.Names(cmd, names)
	if err != nil {
		return err
	}
	connect := k.Prog.Connect
	if k.EachShard {
		connect = k.Prog.ConnectEach
	}
	return connect(cmd, func(s *program.Session) error {
		all := make([]Done, len(names))
		err = s.InTx(cmd.Context(), func(tx *sql.Tx) error {
			for i, name := range names {
				all[i] = k.Named(name)
				if all[i].Did, err = do(s, tx, name); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return s.Explain(err)
		}
		if k.Prog.JSON {
			return output.Lines(cmd.OutOrStdout(), all)
		}
		p := output.To(cmd.OutOrStdout())
		for i, name := range names {
			text := all[i].Did + ": " + name
			if all[i].Did == kept {
				text += k.WasSo
			}
			p.Say("%s", text)
		}
		return p.Err()
	})
}

// Pause makes a command pause what it is given: all, or none.
func (k Kind) Pause(cmd *cobra.Command) *cobra.Command {
	return k.switches(cmd, "paused", Definitions.Pause)
}

// Resume makes a command resume what it is given: all, or none.
func (k Kind) Resume(cmd *cobra.Command) *cobra.Command {
	return k.switches(cmd, "resumed", Definitions.Resume)
}

func (k Kind) switches(cmd *cobra.Command, done string, do func(Definitions, context.Context, prescient.DB, string) (bool, error)) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		return k.Each(cmd, names, func(s *program.Session, tx *sql.Tx, name string) (string, error) {
			changed, err := do(k.Of(s), cmd.Context(), tx, name)
			if !changed {
				return kept, err
			}
			return done, err
		})
	}
	return cmd
}

// Run makes a command run one once.
func (k Kind) Run(cmd *cobra.Command) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if _, err := k.Names(cmd, names); err != nil {
			return err
		}
		return k.Prog.Connect(cmd, func(s *program.Session) (err error) {
			done := k.Named(names[0])
			if done.Run, err = k.Of(s).RunNow(cmd.Context(), s.DB, names[0]); err != nil {
				return s.Explain(err)
			}
			return output.Answer(cmd.OutOrStdout(), k.Prog.JSON, done, "%s", done.Run)
		})
	}
	return cmd
}
