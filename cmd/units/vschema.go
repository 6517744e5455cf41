package units

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/input"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient/shards"
)

// longestVSchema is how long the VSchema of a keyspace may be, in bytes.
const longestVSchema = 16 << 20

// VSchema returns the command vschema.
func VSchema(prog *program.Program) *cobra.Command {
	var into string
	var a applying
	cmd := &cobra.Command{
		Use:   "vschema [--into FILE | --apply KEYSPACE [--dry-run] [-- ARGUMENT...]]",
		Short: "Print or apply where rows lie on the shards of Vitess",
		Long: `Prints the VSchema of a sharded keyspace of Vitess, for vtctldclient ApplyVSchema, which replaces what the keyspace had: so
give what it has by --into, and the app's own tables stay in it. It connects to nothing.

With --apply it asks vtctldclient for what the keyspace has, adds to that, has vtctldclient apply it, and says what changed; with
--dry-run it only says what would. Arguments behind -- are given to vtctldclient, such as --server. Whatever somebody else
applies in the same moment is lost. No row moves: apply it before there are some.

Pending checks, history and long runs lie where their job_key says, which begins with a hash of the entity; schedules, jobs of
steps, events and the audit where their place says, which is that hash. What a shard has for itself, such as its ledger and
shared steps, are reference tables: only sessions that are targeted at the shard are to write them.`,
		Example: fmt.Sprintf(`  %[1]s vschema --apply shop --dry-run -- --server vtctld:15999
  %[1]s vschema --apply shop -- --server vtctld:15999
  vtctldclient GetVSchema shop | %[1]s vschema --into - > shop.json`, prog.Name),
		Args: func(cmd *cobra.Command, args []string) error {
			if a.keyspace != "" && cmd.ArgsLenAtDash() == 0 {
				return nil // they are those of vtctldclient
			}
			return arguments.None(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.check(cmd); err != nil {
				return err
			}
			c, err := prog.Load(cmd)
			if err != nil {
				return err
			}
			if a.keyspace != "" {
				a.prefix, a.args, a.json = c.TablePrefix, args, prog.JSON
				return a.apply(cmd)
			}
			has, err := readVSchema(cmd, into)
			if err != nil {
				return err
			}
			text, err := shards.VSchema(c.TablePrefix, has)
			if err != nil {
				return err
			}
			return output.JSON(cmd.OutOrStdout(), text)
		},
	}
	cmd.Flags().StringVar(&into, "into", "", "a file with the VSchema that the keyspace has, or - for stdin")
	cmd.Flags().StringVar(&a.keyspace, "apply", "", "apply it to this keyspace, by vtctldclient")
	cmd.Flags().BoolVar(&a.dry, "dry-run", false, "with --apply: say what would change, and change nothing")
	cmd.Flags().StringVar(&a.program, "vtctldclient", "vtctldclient", "with --apply: the program, where it is not on PATH")
	return cmd
}

// readVSchema reads what the keyspace has; nothing where no file is given. An empty file is refused: a GetVSchema that fails prints nothing, and what is
// then printed would take the app's tables from the keyspace.
func readVSchema(cmd *cobra.Command, from string) ([]byte, error) {
	if from == "" {
		return nil, nil
	}
	has, err := input.ReadAll(cmd.Context(), from, cmd.InOrStdin(), longestVSchema)
	switch {
	case err != nil:
		return nil, exit.NotRead("--into "+input.Called(from), err)
	case len(has) > longestVSchema:
		return nil, exit.Usage(fmt.Errorf("--into %s: it is longer than %d MB", input.Called(from), longestVSchema>>20))
	case len(bytes.TrimSpace(has)) == 0:
		return nil, exit.Usage(fmt.Errorf("--into %s: it is empty; vtctldclient GetVSchema prints {} at the least, unless it fails", input.Called(from)))
	}
	return has, nil
}
